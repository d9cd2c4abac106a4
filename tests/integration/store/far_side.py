"""The world outside of the database, which no rule of ours can change: who pressed and said what,
what is under way, what was done and what could be seen of it.

It stands for the worst provider there could be: it knows no keys, so that each trip that arrives
acts, and a trip that is under way may arrive at any later time, unless its outcome excludes that,
or a look-up that found nothing after the time that the provider names. Each promise that is broken
raises `BrokenPromiseError` with its name.
"""

from dataclasses import dataclass, field

from tests.integration.store.model_data import (
    APART,
    KEY_KNOWN,
    LAG,
    LOCKED,
    LOOK_LIFE,
    RESEND_AFTER_CLICK,
    RESEND_FRESH,
    SECOND,
)
from tests.integration.store.model_talking import TEXTS


class BrokenPromiseError(AssertionError):
    """`name` says which promise."""

    def __init__(self, name: str, detail: object) -> None:
        self.name = name
        super().__init__(f"{name}: {detail}")


def promise(name: str, *, kept: bool, detail: object) -> None:
    """Raise unless it was kept."""
    if not kept:
        raise BrokenPromiseError(name, detail)


@dataclass
class Trip:
    """A send under way. `said` is the outcome that its sender has seen and will write."""

    action: str
    n: int
    at: int
    acted: bool = False
    dead: bool = False
    said: str | None = None

    @property
    def may_act(self) -> bool:
        """It is still under way."""
        return not self.acted and not self.dead


@dataclass(frozen=True, kw_only=True)
class Pressed:
    """A click, or a typed yes that counts, as the person made it."""

    verdict: str
    right: bool
    at: int
    while_pending: bool


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the test itself proposed. `direct`: the deployment chose that nobody is asked."""

    key: str
    unique: bool
    conversation: str
    expires_at: int
    confirm: str

    @property
    def direct(self) -> bool:
        """Nobody has to decide it."""
        return self.confirm == "direct"


@dataclass(frozen=True)
class Passed:
    """Something that went over the phone of a conversation: `in` with its words, `out`, `prompt`
    (written), `sent` and `delivered` of an action's prompt."""

    what: str
    at: int
    about: str = ""
    plain: bool = True


@dataclass
class Word:
    """An operator's resend that was accepted."""

    action: str
    n: int
    at: int
    used: bool = False


@dataclass
class FarSide:
    """All of it, in order."""

    known: dict[str, Known] = field(default_factory=dict)
    pressed: dict[str, list[Pressed]] = field(default_factory=dict)
    passed: dict[str, list[Passed]] = field(default_factory=dict)
    attempts: dict[str, list[int]] = field(default_factory=dict)
    opened_at: dict[str, int] = field(default_factory=dict)
    trips: list[Trip] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)
    seen: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    words: list[tuple[str, str]] = field(default_factory=list)
    resends: list[Word] = field(default_factory=list)
    restored: set[str] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)
    """What has come about in this example, so that a test can say that it tests something."""

    def trips_of(self, action: str) -> list[Trip]:
        """Its sends, the first one first."""
        return [trip for trip in self.trips if trip.action == action]

    def acts(self, trip: Trip) -> None:
        """The trip arrives: one effect."""
        assert trip.may_act
        trip.acted = True
        self.took_effect(trip.action)
        if trip.n > 1:
            self.reached.add("an effect of a further send")

    def took_effect(self, action: str) -> None:
        """The thing is done."""
        self.effects.append(action)
        self.reached.add("an effect")

    def never_acts(self, action: str) -> None:
        """The provider has its own record that this key failed."""
        for trip in self.trips_of(action):
            trip.dead = not trip.acted

    def looks(self, action: str, seen: str, now: int) -> str:
        """What an honest provider shows to whoever would see `seen`: nothing that is not there, and
        whatever is, once its lag is over. What it does not show then will not come any more."""
        acted = action in self.effects
        settled = [trip for trip in self.trips_of(action) if now >= trip.at + LAG]
        if seen.startswith("found") and not acted:
            seen = "absent"
        if acted and (seen == "absent_final" or (seen == "absent" and settled)):
            seen = "found"
        if seen == "absent_final":
            self.never_acts(action)
        if seen == "absent":
            for trip in settled:
                trip.dead = not trip.acted
        self.seen.setdefault(action, []).append((now, seen.partition("_")[0]))
        return seen

    # -- attempts and sends

    def opened(self, action: str, attempt: int, now: int) -> None:
        """An attempt began; where nobody is asked, none while another one holds the lock."""
        if self.known[action].direct and action in self.opened_at:
            self.reached.add("a take-over")
            free = now > self.opened_at[action] + LOCKED
            word = any(one.action == action and not one.used for one in self.resends)
            promise("no take-over while the lock holds", kept=free or word, detail=action)
        self.attempts.setdefault(action, []).append(attempt)
        self.opened_at[action] = now

    def fenced(self, action: str, n: int, which: int, now: int) -> None:
        """A send may go: by the attempt that was opened last, and only if no earlier send may have
        acted, or by an operator's word that nothing used yet. `which` counts from the first."""
        opened = self.attempts[action]
        promise(
            "only the newest attempt sends",
            kept=which == len(opened) - 1,
            detail=(action, which, opened),
        )
        promise("nothing frozen is sent", kept=action not in self.restored, detail=action)
        earlier = self.trips_of(action)
        self.reached.add("a send after one that was not sent" if earlier else "a send")
        if not all(trip.said == "not_sent" for trip in earlier):
            words = [one for one in self.resends if (one.action, one.n) == (action, n)]
            promise(
                "a second send only if all earlier are not_sent, or by one operator's word",
                kept=bool(words) and not any(one.used for one in words),
                detail=(action, n, earlier, words),
            )
            words[-1].used = True  # an earlier one was withdrawn by a revalidation
            self._in_time(words[-1], earlier[0], now)
            self.reached.add("a send by an operator's word")
        self.trips.append(Trip(action, n, now))

    def _in_time(self, word: Word, first: Trip, now: int) -> None:
        clicked = [one.at for one in self.pressed.get(word.action, []) if one.verdict == "confirm"]
        direct = self.known[word.action].direct
        promise(
            "a resend only in its time",
            kept=now < word.at + RESEND_FRESH
            and now < first.at + KEY_KNOWN
            and (direct or any(now < at + RESEND_AFTER_CLICK for at in clicked)),
            detail=(word, first, now),
        )

    # -- what operators say

    def settled(self, action: str, verdict: str, n: int | None, now: int) -> None:
        """An operator's word was followed."""
        trips = [trip for trip in self.trips_of(action) if trip.said != "not_sent"]
        if verdict != "executed" and (trips or action in self.restored):
            absent = self._absent_since(action, max((trip.at for trip in trips), default=0) + LAG)
            promise(
                "an operator denies an effect only after two look-ups that would have shown it",
                kept=len(absent) >= 2 and max(absent) - min(absent) >= APART - LOOK_LIFE,
                detail=(action, verdict, trips, self.seen.get(action)),
            )
        self.words.append((action, verdict))
        self.reached.add(f"settled as {verdict}" if n is None else "a resend ordered")
        if n is not None:
            self.resends.append(Word(action, n, now))

    def _absent_since(self, action: str, since: int) -> list[int]:
        """When it was looked for in vain; what was seen is written down up to `LOOK_LIFE` later."""
        seen = self.seen.get(action, [])
        if any(presence == "found" for _at, presence in seen):
            return []
        return [at for at, presence in seen if presence == "absent" and at >= since - LOOK_LIFE]

    # -- what people say

    def went(self, person: str, what: str, at: int, about: str = "", *, plain: bool = True) -> None:
        """Something went over the phone."""
        self.passed.setdefault(person, []).append(Passed(what, at, about, plain))

    def said_yes(self, person: str, action: str) -> Pressed:
        """A message was followed as a yes to the action: it is the last thing that passed, exactly
        a yes, and since the prompt was written nothing passed but that prompt, seen before."""
        passed = self.passed[person]
        prompt = max(n for n, one in enumerate(passed) if one.what == "prompt")
        yes, between = passed[-1], passed[prompt + 1 : -1]
        own = [one for one in between if one.what in {"sent", "delivered"} and one.about == action]
        delivered = [one for one in own if one.what == "delivered"]
        promise(
            "a typed yes leaves one reading only",
            kept=yes.what == "in"
            and TEXTS.get(yes.about, False)
            and yes.plain
            and passed[prompt].about == action
            and self.known[action].confirm == "button_or_yes"
            and own == between
            and any(one.at // SECOND < yes.at // SECOND for one in delivered),
            detail=passed[prompt:],
        )
        self.reached.add("a typed yes")
        return Pressed(verdict="confirm", right=True, at=yes.at, while_pending=True)
