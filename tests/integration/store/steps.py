"""The product's own functions, one by one, for whoever drives them in an order of his own.

The clock of these tests stands still until it is moved: `fake.clock_timestamp()` reads a setting of
the session, so that a deadline can be hit to the microsecond and a run repeats exactly.
"""

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from channels.whatsapp.buttons import button_id, parse_button_id
from domain import ids
from domain.actions import CloseReason
from domain.canonical import JsonValue, action_digest, sha256_hex
from domain.inbound import IdentityChange, InboundItem, InboundKind, Sender, Webhook
from domain.outcomes import GatewayResult, LookupResult, Outcome, Presence
from domain.people import Person
from domain.texts import texts_for
from store import deciding, executing, inbox, outbox, proposing, turns
from store.actions import Action
from store.connection import Connection
from store.proposing import Proposal, TurnHistory
from tests.integration.store.kit import CARLOS, MARIA, RITA
from tests.integration.store.rows import ACCOUNT, NUMBER, new_account

START = datetime(2026, 3, 11, 15, 0, tzinfo=UTC)
OWNERS = {"maria": MARIA, "rita": RITA}
TEXTS = texts_for("pt-BR")

CLOCK = """
CREATE OR REPLACE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT current_setting('fake.at')::timestamptz $$;
CREATE OR REPLACE FUNCTION fake.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT current_setting('fake.at')::timestamptz $$;
"""

ROWS = """
SELECT a.id, a.status, a.reason, a.attempt, a.executing_since, a.looks, a.look_at, a.ring_at,
    a.verifying_told_at IS NOT NULL AS told, c.facts_seq,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(d.verdict, d.answered_at IS NOT NULL, d.followed,
        d.refusal, d.ring_at IS NOT NULL) ORDER BY d.seq), '[]') FROM decisions d
        WHERE d.action_id = a.id) AS decisions,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(s.n, s.attempt, s.outcome) ORDER BY s.n), '[]')
        FROM sends s WHERE s.action_id = a.id) AS sends
FROM actions a JOIN conversations c ON c.id = a.conversation_id WHERE a.id = ANY($1)
"""


def moment(at: int) -> datetime:
    """Microseconds since the start, as PostgreSQL says it."""
    return START + timedelta(microseconds=at)


def microseconds(at: datetime) -> int:
    """The other way round."""
    return (at - START) // timedelta(microseconds=1)


async def seed(db: Connection) -> None:
    """The still clock, and an account with two owners."""
    await db.execute(CLOCK)
    await set_clock(db, 0)
    await new_account(db)
    for person in OWNERS.values():
        await db.execute(
            "INSERT INTO members (account_id, user_id, wa_id, name, role)"
            " VALUES ($1, $2, $3, 'Owner', 'owner')",
            ACCOUNT,
            person.user_id,
            person.wa_id,
        )


async def set_clock(db: Connection, at: int) -> None:
    """Set this session's clock."""
    await db.execute("SELECT set_config('fake.at', $1, false)", moment(at).isoformat())


@dataclass(frozen=True, kw_only=True)
class OpenTurn:
    """A turn that took its message, and the facts on which its model thought."""

    id: uuid.UUID
    person: str
    asked_at: int
    facts: int

    @property
    def action_id(self) -> str:
        """The one action that it may propose."""
        return ids.action_id(self.id)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a proposal is about. `unique`: it makes sense once (it has a business key)."""

    key: str
    effect: str
    unique: bool
    expires_at: int


def clicker(owner: str, who: str) -> Person:
    """The right person, or one of those who are not quite he."""
    right = OWNERS[owner]
    return {
        "right": right,
        "stranger": CARLOS,
        "other_owner": MARIA if owner == "rita" else RITA,
        "other_user_id": Person(user_id="BR.9999", wa_id=right.wa_id),
        "phone_only": Person(wa_id=right.wa_id),
    }[who]


@dataclass
class Steps:
    """Each method is one step of the product on the given connection."""

    salt: str = field(default_factory=lambda: uuid.uuid4().hex)

    async def _receive(
        self, db: Connection, person: Person, kind: InboundKind, **fields: Any
    ) -> None:
        item = InboundItem(
            kind=kind,
            phone_number_id=NUMBER,
            key=f"wamid.{uuid.uuid4().hex}",
            sender=Sender(user_id=person.user_id, wa_id=person.wa_id, name=None),
            sent_at=START,
            raw=b"{}",
            **fields,
        )
        webhook = Webhook(items=[item], statuses=[])
        await inbox.receive(db, body=b"{}", webhook=webhook, parse_button=parse_button_id)

    # -- a turn

    async def ask(self, db: Connection, person: str, *, now: int) -> OpenTurn:
        """A message comes in and a turn takes it; an open turn stays the one it is."""
        owner = OWNERS[person]
        await self._receive(db, owner, InboundKind.TEXT, text="oi")
        conversation = await db.fetchval(
            "SELECT id FROM conversations WHERE user_id = $1 AND closed_at IS NULL", owner.user_id
        )
        async with db.transaction():
            turn_id = await turns.take(db, conversation)
            assert turn_id is not None
            turn = await turns.read(db, turn_id)
        return OpenTurn(
            id=turn_id,
            person=person,
            asked_at=now,
            facts=turn.facts_seq,
        )

    async def propose(self, db: Connection, turn: OpenTurn, wanted: Wanted) -> str:
        """Store the proposal; the turn is closed once it stands."""
        proposal = await self._proposal(db, turn, wanted)
        result = await proposing.propose(db, proposal, TurnHistory(entries=[]))
        if result.what is proposing.Proposed.NEW:
            await turns.close(db, turn=turn.id, outcome="proposal")
        return result.what.value

    async def _proposal(self, db: Connection, turn: OpenTurn, wanted: Wanted) -> Proposal:
        read = await turns.read(db, turn.id)
        payload: dict[str, JsonValue] = {"key": wanted.key, "example": self.salt}
        request: dict[str, JsonValue] | None = {"body": "{}"}
        if wanted.effect == "database":
            request = None
        frozen: dict[str, Any] = {
            "tool": "create_pix_charge",
            "tool_version": 1,
            "payload": payload,
            "summary": "Pix de R$ 150,00",
            "request": request,
            "phone_number_id": NUMBER,
            "expires_at": moment(wanted.expires_at),
        }
        person = read.who.person
        return Proposal(
            **frozen,
            action_id=turn.action_id,
            turn=turn.id,
            conversation=read.conversation_id,
            who=read.who,
            risk="critical",
            confirm="button",
            effect=wanted.effect,
            payload_hash=sha256_hex(payload),
            digest=action_digest(
                **frozen, account_id=ACCOUNT, user_id=person.user_id, wa_id=person.wa_id
            ),
            business_key=sha256_hex([wanted.key, self.salt]) if wanted.unique else None,
            compensates=None,
            facts_seq=turn.facts,
            prompt={"type": "text", "text": "Confirma?"},
        )

    async def change_identity(self, db: Connection, person: str) -> None:
        """The person became somebody else to us."""
        owner = OWNERS[person]
        change = IdentityChange(change="customer_identity_changed", previous_user_id=owner.user_id)
        await self._receive(
            db,
            Person(user_id=owner.user_id),
            InboundKind.IDENTITY_CHANGED,
            identity=change,
        )

    async def leave(self, db: Connection, person: str) -> None:
        """The person is no longer a member."""
        await db.execute(
            "UPDATE members SET active = false WHERE user_id = $1", OWNERS[person].user_id
        )

    # -- a decision

    async def click(self, db: Connection, action: str, verdict: str, person: Person) -> None:
        """A press of one of our buttons, through the webhook's door."""
        pressed = button_id("confirm" if verdict == "confirm" else "cancel", action)
        await self._receive(db, person, InboundKind.BUTTON, button_id=pressed)

    async def decide(self, db: Connection, action: str) -> tuple[str, str]:
        """The status afterwards and what comes next."""
        following = await deciding.decide(db, action)
        return following.status.value, following.do.value

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

    async def look(self, db: Connection, action: str, seen: str) -> str:
        """Record what a look-up saw."""
        written = await executing.record_look(
            db,
            action,
            look=LOOKS[seen],
            texts=TEXTS,
            success=_success,
            mirror=_no_mirror,
        )
        return written.value

    async def prompt(self, db: Connection, action: str, outcome: str) -> bool:
        """Send the prompt; whether it could be claimed."""
        key = f"action:{action}:prompt"
        if await outbox.claim(db, key) is None:
            return False
        if outcome == "refused":
            await outbox.refused(db, key, error_code=131026, reason="undeliverable")
        else:
            await outbox.accepted(db, key, wamid=f"wamid.{uuid.uuid4().hex}")
        return True


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


def _answer(outcome: str) -> GatewayResult:
    return GatewayResult(outcome=Outcome(outcome), reason="as the test says")


def _success(_action: Action) -> executing.Success:
    return executing.Success(result={"done": True}, texts=["Feito."])


def _no_mirror(_action: Action, _connection: Connection) -> executing.Record:
    async def nothing(_result: dict[str, JsonValue]) -> None:
        return None

    return nothing
