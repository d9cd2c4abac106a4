"""The product's own functions, one by one, for whoever drives them in an order of his own.

The clock of these tests stands still until it is moved: `fake.clock_timestamp()` reads a setting of
the session, so that a deadline can be hit to the microsecond and a run repeats exactly.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from channels.whatsapp.buttons import button_id, parse_button_id
from domain import ids
from domain.canonical import JsonValue, action_digest, sha256_hex
from domain.inbound import (
    DeliveryStatus,
    IdentityChange,
    InboundItem,
    InboundKind,
    Sender,
    StatusUpdate,
    Webhook,
)
from domain.people import Person
from store import deciding, inbox, outbox, proposing, restoring, turns, typed_yes
from store.connection import Connection
from store.outbox import NewMessage
from store.proposing import Proposal, TurnHistory
from tests.integration.store.rows import ACCOUNT, NUMBER, new_account

START = datetime(2026, 3, 11, 15, 0, tzinfo=UTC)

CLOCK = """
CREATE OR REPLACE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT current_setting('fake.at')::timestamptz $$;
CREATE OR REPLACE FUNCTION fake.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT current_setting('fake.at')::timestamptz $$;
"""

ROWS = """
SELECT a.id, a.status, a.reason, a.attempt, a.executing_since, a.looks, a.look_at, a.ring_at,
    a.frozen_at, a.verifying_told_at IS NOT NULL AS told, c.facts_seq,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(d.verdict, d.answered_at IS NOT NULL, d.followed,
        d.refusal, d.as_send, d.ring_at IS NOT NULL) ORDER BY d.seq), '[]') FROM decisions d
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
    confirm: str = "button"


@dataclass(frozen=True)
class Cast:
    """Two owners of the account and a stranger, of whom no other cast has any."""

    number: int

    def person(self, who: str) -> Person:
        """`maria`, `rita`, or anybody else."""
        n = {"maria": 1, "rita": 2}.get(who, 3)
        return Person(user_id=f"BR.{self.number:05}{n}", wa_id=f"55119{self.number:07}{n}")

    def clicker(self, owner: str, who: str) -> Person:
        """The right person, or one of those who are not quite he."""
        right = self.person(owner)
        return {
            "right": right,
            "stranger": self.person("stranger"),
            "other_owner": self.person(other(owner)),
            "other_user_id": Person(user_id=f"BR.9{self.number:05}", wa_id=right.wa_id),
            "phone_only": Person(wa_id=right.wa_id),
        }[who]


def other(owner: str) -> str:
    """The other one of the two owners."""
    return "maria" if owner == "rita" else "rita"


async def seed(db: Connection, *, casts: int) -> None:
    """The still clock, and an account with two owners for each cast."""
    await db.execute(CLOCK)
    await set_clock(db, 0)
    await new_account(db)
    people = [Cast(n).person(who) for n in range(casts) for who in ("maria", "rita")]
    await db.executemany(
        "INSERT INTO members (account_id, user_id, wa_id, name, role)"
        " VALUES ($1, $2, $3, 'Owner', 'owner')",
        [(ACCOUNT, person.user_id, person.wa_id) for person in people],
    )


class Steps:
    """Each method is one step of the product on the given connection."""

    def __init__(self, cast: Cast) -> None:
        self.cast = cast
        self.salt = uuid.uuid4().hex

    async def _receive(
        self, db: Connection, person: Person, kind: InboundKind, **fields: Any
    ) -> None:
        item = InboundItem(
            kind=kind,
            phone_number_id=NUMBER,
            key=f"wamid.{uuid.uuid4().hex}",
            sender=Sender(user_id=person.user_id, wa_id=person.wa_id, name=None),
            sent_at=fields.pop("sent_at", START),
            raw=b"{}",
            **fields,
        )
        await _webhook(db, Webhook(items=[item], statuses=[]))

    # -- what is said

    async def ask(self, db: Connection, person: str, *, now: int) -> OpenTurn:
        """A message comes in and a turn takes it; an open turn stays the one it is."""
        await self.says(db, person, "oi", plain=True, now=now)
        async with db.transaction():
            turn_id = await turns.take(db, await self._conversation(db, person))
            assert turn_id is not None
            return await self._turn(db, turn_id, person, now)

    async def says(self, db: Connection, person: str, text: str, *, plain: bool, now: int) -> None:
        """A message comes in; not `plain`: it is forwarded."""
        await self._receive(
            db,
            self.cast.person(person),
            InboundKind.TEXT,
            text=text,
            forwarded=not plain,
            sent_at=moment(now).replace(microsecond=0),
        )

    async def take(self, db: Connection, person: str, *, now: int) -> tuple[str, OpenTurn | None]:
        """The end of a burst: `yes`, `turn` with the turn, or `nothing`."""
        async with db.transaction():
            conversation = await self._conversation(db, person)
            await turns.lock_conversation(db, conversation)
            if await typed_yes.take_yes(db, conversation) is not None:
                return "yes", None
            turn_id = await turns.take(db, conversation)
            if turn_id is None:
                return "nothing", None
            return "turn", await self._turn(db, turn_id, person, now)

    async def _conversation(self, db: Connection, person: str) -> uuid.UUID:
        found: uuid.UUID = await db.fetchval(
            "SELECT id FROM conversations WHERE user_id = $1 AND closed_at IS NULL",
            self.cast.person(person).user_id,
        )
        return found

    async def _turn(self, db: Connection, turn_id: uuid.UUID, person: str, now: int) -> OpenTurn:
        facts = (await turns.read(db, turn_id)).facts_seq
        return OpenTurn(id=turn_id, person=person, asked_at=now, facts=facts)

    async def reply(self, db: Connection, person: str) -> None:
        """A message that is no prompt goes out."""
        key = f"turn:{uuid.uuid4()}:reply:0"
        message = NewMessage(key=key, purpose="reply", message={"type": "text", "text": "Oi."})
        await outbox.enqueue(db, conversation=await self._conversation(db, person), message=message)
        claimed = await outbox.claim(db, key)
        assert claimed is not None
        await outbox.accepted(db, key, wamid=f"wamid.{uuid.uuid4().hex}")

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

    async def deliver(self, db: Connection, action: str, *, now: int) -> None:
        """The channel's word that the prompt arrived; its clock has whole seconds."""
        key = f"action:{action}:prompt"
        status = StatusUpdate(
            phone_number_id=NUMBER,
            wamid=await db.fetchval("SELECT wamid FROM outbox WHERE key = $1", key),
            status=DeliveryStatus.DELIVERED,
            at=moment(now).replace(microsecond=0),
            callback_data=key,
            error_code=None,
            raw=b"{}",
        )
        await _webhook(db, Webhook(items=[], statuses=[status]))

    # -- a proposal

    async def propose(self, db: Connection, turn: OpenTurn, wanted: Wanted) -> str:
        """Store the proposal; the turn is closed once it stands."""
        proposal = await self._proposal(db, turn, wanted)
        result = await proposing.propose(db, proposal, TurnHistory(entries=[]))
        if result.what is proposing.Proposed.NEW:
            await turns.close(db, turn=turn.id, outcome="proposal")
        return result.what.value

    async def _proposal(self, db: Connection, turn: OpenTurn, wanted: Wanted) -> Proposal:
        read = await turns.read(db, turn.id)
        direct = wanted.confirm == "direct"
        payload: dict[str, JsonValue] = {"key": wanted.key, "example": self.salt}
        frozen: dict[str, Any] = {
            "tool": "create_pix_charge",
            "tool_version": 1,
            "payload": payload,
            "summary": "Pix de R$ 150,00",
            "request": None if wanted.effect == "database" else {"body": "{}"},
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
            risk="reversible" if direct else "critical",
            confirm=wanted.confirm,
            effect=wanted.effect,
            payload_hash=sha256_hex(payload),
            digest=action_digest(
                **frozen, account_id=ACCOUNT, user_id=person.user_id, wa_id=person.wa_id
            ),
            business_key=sha256_hex([wanted.key, self.salt]) if wanted.unique else None,
            compensates=None,
            facts_seq=turn.facts,
            prompt=None if direct else {"type": "text", "text": "Confirma?"},
            locked_for_s=120.0 if direct else None,
        )

    async def change_identity(self, db: Connection, person: str) -> None:
        """The person became somebody else to us."""
        user_id = self.cast.person(person).user_id
        change = IdentityChange(change="customer_identity_changed", previous_user_id=user_id)
        await self._receive(
            db, Person(user_id=user_id), InboundKind.IDENTITY_CHANGED, identity=change
        )

    async def leave(self, db: Connection, person: str) -> None:
        """The person is no longer a member."""
        await db.execute(
            "UPDATE members SET active = false WHERE user_id = $1",
            self.cast.person(person).user_id,
        )

    async def hold_all(self, db: Connection) -> None:
        """What `aval restored` does."""
        await restoring.hold_all(db, operator="ana")

    # -- a decision

    async def click(self, db: Connection, action: str, verdict: str, person: Person) -> None:
        """A press of one of our buttons, through the webhook's door."""
        pressed = button_id("confirm" if verdict == "confirm" else "cancel", action)
        await self._receive(db, person, InboundKind.BUTTON, button_id=pressed)

    async def decide(self, db: Connection, action: str) -> tuple[str, str]:
        """The status afterwards and what comes next."""
        following = await deciding.decide(db, action)
        return following.status.value, following.do.value


async def _webhook(db: Connection, webhook: Webhook) -> None:
    await inbox.receive(db, body=b"{}", webhook=webhook, parse_button=parse_button_id)
