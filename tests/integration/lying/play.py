"""One example as it is played: people, the turn's and the action's activities in the order that
the workflows would take, time, and the far sides; every step may be the last that works.

The product is called through its activities and its webhook receipt; its rows are read only to
know what there is to press and what changed in the business's own books.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from temporalio.exceptions import ApplicationError

from activities.closing import Answer, Apologise, Close
from activities.decide import Decide
from activities.deps import Deps
from activities.execute import Execute
from activities.look_up import LookUp
from activities.messages import (
    ActionRef,
    ConversationRef,
    ProposalOutcome,
    Route,
    StepRef,
    TurnEnd,
    Unsent,
)
from activities.propose import Propose
from activities.report import Report
from activities.sending import Announce
from activities.settle import Settle
from activities.take import Take
from activities.think import Think
from channels.whatsapp.buttons import parse_button_id
from channels.whatsapp.parse import parse_webhook
from store import inbox
from store.connection import Connection
from tests.integration.history.one_connection import DiedError, Doors
from tests.integration.lying import envelopes
from tests.integration.lying.ground import PEOPLE, moment, set_clock
from tests.integration.lying.records import Delivered, Died, Pressed, Wrote
from tests.integration.lying.stage import Far, Stage, Talk
from tests.integration.lying.wires import Scene
from workflows.options import MOST_STEPS, MOST_USELESS_ANSWERS


class Play:
    """The steps."""

    def __init__(self, db: Connection, deps: Deps, doors: Doors, far: Far, stage: Stage) -> None:
        self.db, self.deps, self.doors, self.far, self.stage = db, deps, doors, far, stage
        self._again: Callable[[], Awaitable[Any]] | None = None

    @property
    def scene(self) -> Scene:
        """What the far sides know."""
        return self.stage.scene

    async def passes(self, seconds: int) -> None:
        """Time goes on."""
        self.stage.now += seconds
        self.scene.now = moment(self.stage.now)
        await set_clock(self.db, self.stage.now)

    # -- what people do

    async def _receive(self, body: bytes) -> None:
        await inbox.receive(
            self.db, body=body, webhook=parse_webhook(body), parse_button=parse_button_id
        )

    def number_of(self, who: str) -> str:
        """The business number that he talks to."""
        ground = self.stage.ground
        return ground.other_number if who == "olga" else ground.number

    async def says(self, who: str, text: str, *, plain: bool = True) -> None:
        """A person writes."""
        person, number = PEOPLE[who], self.number_of(who)
        body = envelopes.text(number, person, text, at=self.scene.now, forwarded=not plain)
        self.scene.far.add(
            Wrote(at=self.scene.now, number=number, by=_id(who), text=text, plain=plain)
        )
        await self._receive(body)
        self.scene.counted["messages of people"] += 1
        if who not in self.stage.talks:
            found = await self.db.fetchval(
                "SELECT id FROM conversations WHERE phone_number_id = $1 AND user_id = $2",
                number,
                person.user_id,
            )
            self.stage.talks[who] = Talk(conversation=found)

    async def presses(
        self, who: str, action: str, verdict: str, *, context: str | None, number: str | None = None
    ) -> None:
        """A button is pressed, or somebody says so with Meta's signature."""
        button, number = f"pa:{verdict}:{action}", number or self.number_of(who)
        self.scene.far.add(
            Pressed(at=self.scene.now, number=number, by=_id(who), button=button, under=context)
        )
        self.scene.counted["presses"] += 1
        body = envelopes.press(number, PEOPLE[who], button, context=context, at=self.scene.now)
        await self._receive(body)

    async def delivers(self) -> None:
        """The statuses of all that was sent come in."""
        for wamid, key in self.far.phone.undelivered:
            self.scene.far.add(Delivered(at=self.scene.now, wamid=wamid))
            self.scene.lost.discard(wamid)
            body = envelopes.status(self.stage.ground.number, wamid, key, at=self.scene.now)
            await self._receive(body)
        self.far.phone.undelivered.clear()

    # -- the turn's workflow

    async def answers(self, who: str, lies: list[str], *, steps: int = MOST_STEPS) -> None:
        """The turn goes on for so many steps at most; the model says `lies`, the last one again and
        again."""
        talk = self.stage.talks.get(who)
        if talk is None:
            return
        self.far.model.says = list(lies)
        self.far.model.known = self.stage.ground.known[who]
        if talk.turn is None and not await self._take(who, talk):
            return
        self.far.model.asks = (self.number_of(who), _id(who), str(talk.turn))
        for _ in range(steps):
            if talk.turn is None or await self._step(talk):
                break
        await self.learn()

    async def _take(self, who: str, talk: Talk) -> bool:
        ref = ConversationRef(conversation_id=talk.conversation)
        taken = await self._do(partial(Take(self.deps).run, ref))
        if taken.confirmed is not None:
            self.scene.counted["typed yeses followed"] += 1
            await self.works(taken.confirmed.action_id)
        if taken.turn_id is None:
            return False
        talk.turn, talk.step, talk.useless, talk.outcome = taken.turn_id, 0, 0, None
        talk.thinks = taken.thinks
        return True

    async def _step(self, talk: Talk) -> bool:
        """One step; whether the turn is over."""
        assert talk.turn is not None
        useless = talk.useless > MOST_USELESS_ANSWERS
        if talk.outcome is None and (useless or not talk.thinks or talk.step == MOST_STEPS):
            said = await self._do(partial(Apologise(self.deps).run, _some(talk.turn)))
            talk.outcome = "template" if said else "silence"
        if talk.outcome is None:
            try:
                await self._think(talk)
            except ApplicationError as error:
                if not error.non_retryable:
                    return True  # Temporal tries again later
                talk.step = MOST_STEPS
        if talk.outcome is None:
            return False
        if talk.outcome != "paused":
            end = TurnEnd(turn_id=_some(talk.turn), outcome=talk.outcome)
            await self._do(partial(Close(self.deps).run, end))
            talk.turn = None
        talk.outcome = None
        return True

    async def _think(self, talk: Talk) -> None:
        ref = StepRef(turn_id=_some(talk.turn), step=talk.step, last=talk.step == MOST_STEPS - 1)
        thought = await self._do(partial(Think(self.deps).run, ref))
        match thought.route:
            case Route.REPLY:
                stands = await self._do(partial(self._reply, ref))
                talk.outcome = "reply" if stands else None
            case Route.READ:
                await self._do(partial(LookUp(self.deps).run, ref))
            case Route.EFFECT:
                if thought.reads:
                    await self._do(partial(LookUp(self.deps).run, ref))
                await self._propose(talk, ref)
            case Route.PAUSED:
                talk.outcome = "paused"
            case Route.HANDED_OVER:
                talk.outcome = "template"
            case Route.GIVE_UP:
                talk.useless = MOST_USELESS_ANSWERS + 1
            case Route.AGAIN:
                talk.useless += 1
        talk.step += talk.outcome is None

    async def _reply(self, ref: StepRef) -> bool:
        with suppress(ApplicationError):  # its row is written; it is sent later
            return await Answer(self.deps).run(ref)
        return True

    async def _propose(self, talk: Talk, ref: StepRef) -> None:
        proposed = await self._do(partial(Propose(self.deps).run, ref))
        self.scene.counted[f"propose: {proposed.outcome.value}"] += 1
        if proposed.action is None:
            return
        action = proposed.action
        if proposed.outcome is not ProposalOutcome.DIRECT:
            talk.outcome = "proposal"
            return
        await self.works(action.action_id)
        await self._do(partial(Report(self.deps).run, ref, action))

    # -- the action's workflow

    async def works(self, action: str) -> None:
        """What the action's workflow would do now, without waiting."""
        ref, whose = ActionRef(action_id=action), Unsent(action_id=action)
        for _ in range(4):
            following = await self._do(partial(Decide(self.deps).run, ref))
            announces = following.unsent and (following.do != "execute" or following.wait_s > 0)
            if announces:
                with suppress(ApplicationError):  # refused for now
                    await self._do(partial(Announce(self.deps).run, whose))
            if following.do not in {"execute", "settle"} or following.wait_s > 0:
                break
            await self._do(partial(self._act, following.do, ref))
        await self.learn()

    async def _act(self, what: str, ref: ActionRef) -> None:
        if what == "execute":
            await Execute(self.deps).run(ref)
            await self.stage.books.read(self.db, self.stage.ground, self.scene)
        else:
            await Settle(self.deps).run(ref)

    # -- repeats and deaths

    async def _do(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Run an activity, and remember it: its completion may be lost."""
        self._again = work
        return await work()

    async def again(self) -> None:
        """The last activity runs once more, as after a lost completion."""
        if self._again is None:
            return
        with suppress(ApplicationError):
            await self._again()
        await self.learn()

    async def dying(self, at: int, work: Awaitable[None]) -> None:
        """Do it, and be killed at the n-th door to the database."""
        self.doors.dies_at = at
        try:
            await work
        except DiedError:
            self.scene.counted["deaths"] += 1
            self.scene.far.add(Died(at=self.scene.now))
            self.scene.lost.update(wamid for wamid, _key in self.far.phone.undelivered)
        finally:
            self.doors.dies_at = None
            await asyncio.sleep(0)
        await self.learn()

    # -- what can be seen now

    async def learn(self) -> None:
        """Which actions there are to press, and what changed in the business's own books."""
        rows = await self.db.fetch(
            "SELECT id, user_id FROM actions WHERE account_id = ANY($1) ORDER BY created_at, id",
            [self.stage.ground.account, self.stage.ground.other_account],
        )
        for row in rows:
            if row["id"] not in self.stage.owners:
                self.stage.actions.append(row["id"])
                self.stage.owners[row["id"]] = _name(row["user_id"])
                self.scene.counted["proposals"] += 1
        await self.stage.books.read(self.db, self.stage.ground, self.scene)
        for who, known in self.stage.ground.known.items():
            own = [one for one in self.stage.actions if self.stage.owners[one] == who]
            known.actions = own


def _some(turn: uuid.UUID | None) -> uuid.UUID:
    assert turn is not None
    return turn


def _id(who: str) -> str:
    person = PEOPLE[who]
    return person.user_id or f"phone:{person.wa_id}"


def _name(user_id: str) -> str:
    return next(name for name, one in PEOPLE.items() if one.user_id == user_id)
