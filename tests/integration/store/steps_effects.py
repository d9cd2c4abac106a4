"""The product's functions around an effect: attempts, outcomes, look-ups, operators' words."""

from datetime import timedelta

from domain.actions import CloseReason, Verdict
from domain.canonical import JsonValue
from domain.outcomes import GatewayResult, LookupResult, Outcome, Presence
from domain.settling import ProviderRules, Wish
from domain.texts import texts_for
from store import executing, operators
from store.actions import Action
from store.connection import Connection
from store.operators import NotAllowedError, Operator
from tests.integration.store.model_data import PROVIDERS
from tests.integration.store.steps import Steps

TEXTS = texts_for("pt-BR")

LOOKS = {
    "found": LookupResult(presence=Presence.FOUND, final=True, equal=True),
    "found_working": LookupResult(presence=Presence.FOUND, final=False, equal=True),
    "found_different": LookupResult(
        presence=Presence.FOUND, final=True, equal=False, differences=["amount"]
    ),
    "absent_final": LookupResult(presence=Presence.ABSENT, final=True, equal=False),
    "absent": LookupResult(presence=Presence.ABSENT, final=False, equal=False),
    "uncertain": LookupResult(presence=Presence.UNCERTAIN, final=False, equal=False),
}


class AllSteps(Steps):
    """The steps of workers and operators beside those of people."""

    # -- an attempt

    async def open_attempt(self, db: Connection, action: str) -> int | None:
        """The attempt's number."""
        return await executing.open_attempt(db, action, lock_s=120.0)

    async def fence(self, db: Connection, action: str, attempt: int) -> int | None:
        """The send's number."""
        return await executing.fence(db, action, attempt=attempt)

    async def act_in_database(self, db: Connection, action: str, attempt: int) -> bool:
        """An effect in our own PostgreSQL, in the transaction that records it."""
        async with db.transaction():
            locked = await executing.lock_for_effect(db, action, attempt=attempt)
            if locked is None:
                return False
            await executing.effect_done(db, locked, _success(locked))
            return True

    async def write_send(self, db: Connection, action: str, send: int, outcome: str) -> None:
        """Recording an outcome, killed between its two transactions."""
        await executing._write_send(db, action, send, _answer(outcome))

    async def write_outcome(self, db: Connection, action: str, send: int, outcome: str) -> str:
        """Record what a send proved."""
        written = await executing.record_outcome(
            db,
            action,
            send=send,
            outcome=_answer(outcome),
            texts=TEXTS,
            success=_success,
            mirror=_no_mirror,
        )
        return written.value

    async def close_unsent(self, db: Connection, action: str) -> bool:
        """Close because revalidation refused."""
        return await executing.close_unsent(db, action, CloseReason.NO_LONGER_POSSIBLE, texts=TEXTS)

    async def look(self, db: Connection, action: str, seen: str, send: int | None) -> str:
        """Record what a look-up saw; `send`: the latest in doubt when it began."""
        written = await executing.record_look(
            db,
            action,
            look=LOOKS[seen],
            send=send,
            texts=TEXTS,
            success=_success,
            mirror=_no_mirror,
        )
        return written.value

    # -- an operator

    async def operator_looks(self, db: Connection, action: str, seen: str) -> bool:
        """`--look`: whether it contradicts how the action was closed."""
        return await operators.write_look(db, action, LOOKS[seen], operator="ana")

    async def settle(
        self, db: Connection, action: str, verdict: str, as_send: int | None, by: str, rules: str
    ) -> str:
        """An operator's word: `done` or `refused`."""
        try:
            await operators.settle(
                db,
                action,
                Wish(verdict=Verdict(verdict), as_send=as_send),
                by=Operator(name=by, evidence="as the test says"),
                rules=_rules(rules),
                told=lambda action, _shown: _success(action),
                mirror=_no_mirror,
            )
        except NotAllowedError:
            return "refused"
        return "done"


def _rules(name: str) -> ProviderRules | None:
    provider = PROVIDERS[name]
    if provider is None:
        return None
    lag, known = provider
    return ProviderRules(
        lookup_lag=timedelta(microseconds=lag),
        resend_within=timedelta(microseconds=known),
        resend_after_absent=bool(known),
    )


def _answer(outcome: str) -> GatewayResult:
    return GatewayResult(outcome=Outcome(outcome), reason="as the test says")


def _success(_action: Action) -> executing.Success:
    return executing.Success(result={"done": True}, texts=["Feito."])


def _no_mirror(_action: Action, _connection: Connection) -> executing.Record:
    async def nothing(_result: dict[str, JsonValue]) -> None:
        return None

    return nothing
