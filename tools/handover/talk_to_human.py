"""Gives the conversation to a human: the agent is quiet in it until the pause is over.

It needs no click, since all it changes is a row of ours about this very conversation, and an
operator or the time undoes it; and nobody should have to press a button to leave a machine.
"""

from pydantic import BaseModel, ConfigDict

from domain.people import Who
from domain.texts import texts_for
from store import pauses
from store.connection import Connection
from tools.account_time import local_iso
from tools.contract import (
    EVERYONE,
    Confirm,
    DatabaseContext,
    DatabaseTool,
    NoLongerPossible,
    Payload,
    Prepared,
    Risk,
)
from tools.frozen import frozen, texts_of


class TalkToHumanInput(BaseModel):
    """What the model says: nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TalkToHuman(DatabaseTool[TalkToHumanInput]):
    """Direct and reversible: `aval conversations resume` gives the conversation back."""

    name = "talk_to_human"
    description = (
        "Hands this conversation over to a human of the business. "
        "Use it when the person asks for one, or is upset and you cannot help; not because a "
        "request is hard to understand. "
        "It works at once: the system tells the person, and you are not asked again until the "
        "human is done."
    )
    risk = Risk.REVERSIBLE
    confirm = Confirm.DIRECT
    repeat_safe = True
    roles = EVERYONE
    input_model = TalkToHumanInput

    async def prepare(self, data: TalkToHumanInput, who: Who, db: Connection) -> Prepared:
        """For this person; two people who ask at once ask for two things."""
        return Prepared(
            payload=frozen(who, user_id=who.person.user_id, wa_id=who.person.wa_id),
            summary=texts_for(who.language).hand_over_summary(),
        )

    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Always possible."""
        return None

    async def execute(self, payload: Payload, key: str, context: DatabaseContext) -> Payload:
        """Begin the pause, or make one that lasts longer."""
        paused = await pauses.begin_by_action(
            context.transaction, context.action_id, lasts=context.pause
        )
        return {"quiet_until": local_iso(paused.until, context.who)}

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """That a human will answer."""
        return [texts_of(payload).human_coming()]
