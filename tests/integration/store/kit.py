"""What the attacks on the store stand on: a world of real PostgreSQL, the demo's people, the
activities as plain objects, and the simulated provider on a real port.

Everything is made through the product's own doors (webhook receipt, *take*, *propose*, *decide*),
so that a test starts from a state that can happen. Only the model's answer is written by hand.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict
from temporalio.testing import ActivityEnvironment

from activities.closing import Close
from activities.decide import Decide
from activities.deps import Deps, Gateways
from activities.execute import Execute
from activities.messages import (
    ActionRef,
    ConversationRef,
    NextStep,
    ProposalDone,
    StepRef,
    TurnEnd,
)
from activities.propose import Propose
from activities.settle import Settle
from activities.take import Take
from channels.whatsapp.buttons import button_id, parse_button_id
from channels.whatsapp.sender import WhatsAppSender
from domain.inbound import (
    DeliveryStatus,
    IdentityChange,
    InboundItem,
    InboundKind,
    Sender,
    StatusUpdate,
    Webhook,
)
from domain.people import Person, Who
from gateways.registry import GatewayRegistry
from llm.client import ClaudeClient, build_anthropic
from simulators.payments.app import create_app as create_payments
from simulators.payments.client import PaymentsSimulatorClient
from simulators.payments.config import PaymentsSimulatorConfig
from store import executing, inbox, outbox, turns
from store.connection import Connection, Pool, open_pool
from store.demo import seed_demo
from store.ringing import Ring
from tests.harness.databases import SEARCH_PATH, Databases
from tests.harness.serving import serving
from tools.contract import DatabaseContext, DatabaseTool, NoLongerPossible, Payload, Prepared, Risk
from tools.payments.create_pix_charge import CreatePixCharge
from tools.registry import Registry, load_tools

NUMBER = "100200300400500"
OTHER_NUMBER = "100200300400599"
API_KEY = "sk_test_of_a_test"
ADMIN = "admin-secret-of-a-test"
NOBODY = "http://127.0.0.1:1"

MARIA = Person(user_id="BR.1000000000000001", wa_id="5511988880001")
CARLOS = Person(user_id="BR.1000000000000002", wa_id="5511988880002")
RITA = Person(user_id="BR.1000000000000007", wa_id="5511988880007")
"""A second owner, so that the same effect can be wanted in two conversations."""

CHARGE: dict[str, Any] = {"customer": "João Silva", "amount_cents": 15000}


class NoteInput(BaseModel):
    """What the model would say to the tools of these tests."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str


class AddToWallet(DatabaseTool[NoteInput]):
    """An effect in our own PostgreSQL that can be counted, and made to fail after its write."""

    name = "add_to_wallet"
    description = "For tests. It adds one cent to the wallet. The person decides by button."
    risk = Risk.REVERSIBLE
    input_model = NoteInput

    def __init__(self) -> None:
        self.raises: Exception | None = None
        self.refuses: Exception | None = None
        self.prepare_raises: Exception | None = None

    async def prepare(self, data: NoteInput, who: Who, db: Connection) -> Prepared:
        """Freezes the text; equal texts are equal effects by business key."""
        if self.prepare_raises is not None:
            raise self.prepare_raises
        return Prepared(
            payload={"text": data.text, "language": who.language},
            summary=f"Somar um centavo: {data.text}",
            business_key=("wallet", data.text),
        )

    async def revalidate(
        self, payload: Payload, who: Who, db: Connection
    ) -> NoLongerPossible | None:
        """Raises what the test ordered."""
        if self.refuses is not None:
            raise self.refuses
        return None

    async def execute(self, payload: Payload, key: str, context: DatabaseContext) -> Payload:
        """One cent more, then perhaps an error."""
        await context.transaction.execute(
            "UPDATE wallets SET available_cents = available_cents + 1"
        )
        if self.raises is not None:
            raise self.raises
        return {"added": 1}

    def success(self, payload: Payload, result: Payload) -> list[str]:
        """One line."""
        return ["Somado."]


class FailingBooks(CreatePixCharge):
    """A charge whose own books or words fail after the provider acted."""

    name = "charge_with_failing_books"
    description = "For tests. A charge whose books fail. The person decides by button."

    def __init__(self) -> None:
        self.result_raises = False

    async def record(self, payload: Payload, result: Payload, context: DatabaseContext) -> None:
        """Breaks the transaction's savepoint, as a constraint would."""
        await context.transaction.execute("SELECT 1 / 0")

    def result(self, payload: Payload, data: dict[str, Any]) -> Payload:
        """Raises if the test ordered it."""
        if self.result_raises:
            raise KeyError("no such field in the answer")
        return super().result(payload, data)


@dataclass
class World:
    """A database, the activities over it, and the far side's counters."""

    pool: Pool
    dsn: str
    deps: Deps
    payments: PaymentsSimulatorClient
    payments_url: str
    wallet: AddToWallet
    books: FailingBooks
    _skew: float = 0.0
    _items: int = field(default=0)

    # -- clock

    async def move(self, **by: float) -> None:
        """Move PostgreSQL's clock on."""
        self._skew += timedelta(**by).total_seconds()
        await self.pool.execute("UPDATE fake.skew SET seconds = $1", self._skew)

    async def at(self, moment: datetime) -> None:
        """Set PostgreSQL's clock to a moment, from which it runs on."""
        real: datetime = await self.pool.fetchval("SELECT pg_catalog.clock_timestamp()")
        self._skew = (moment - real).total_seconds()
        await self.pool.execute("UPDATE fake.skew SET seconds = $1", self._skew)

    # -- in

    def item(
        self, person: Person | None, *, kind: InboundKind = InboundKind.TEXT, **fields: Any
    ) -> InboundItem:
        """An item of a person, with a key of its own unless one is given."""
        self._items += 1
        key = fields.pop("key", f"wamid.{self._items}.{uuid.uuid4().hex}")
        sender = fields.pop("sender", None)
        if sender is None and person is not None:
            sender = Sender(user_id=person.user_id, wa_id=person.wa_id, name="Pessoa")
        return InboundItem(
            kind=kind,
            phone_number_id=fields.pop("phone_number_id", NUMBER),
            key=key,
            sender=sender,
            sent_at=fields.pop("sent_at", datetime.now(UTC)),
            raw=fields.pop("raw", f'{{"k": "{self._items}"}}'.encode()),
            **fields,
        )

    def click_item(
        self, action: str, verdict: str, person: Person = MARIA, **fields: Any
    ) -> InboundItem:
        """A press of one of our buttons."""
        pressed = button_id("confirm" if verdict == "confirm" else "cancel", action)
        return self.item(person, kind=InboundKind.BUTTON, button_id=pressed, **fields)

    async def receive(
        self,
        *items: InboundItem,
        statuses: Sequence[StatusUpdate] = (),
        on: "Connection | None" = None,
    ) -> list[Ring]:
        """One webhook, stored by the product; `on` a connection of the test's own transaction."""
        webhook = Webhook(items=list(items), statuses=list(statuses))
        if on is not None:
            return await inbox.receive(
                on, body=b"{}", webhook=webhook, parse_button=parse_button_id
            )
        async with self.pool.acquire() as connection:
            return await inbox.receive(
                connection, body=b"{}", webhook=webhook, parse_button=parse_button_id
            )

    async def click(
        self, action: str, verdict: str = "confirm", person: Person = MARIA, **fields: Any
    ) -> list[Ring]:
        """Store a click."""
        return await self.receive(self.click_item(action, verdict, person, **fields))

    async def status(
        self,
        status: DeliveryStatus,
        *,
        wamid: str,
        key: str | None = None,
        after: float = 0,
        error_code: int | None = None,
    ) -> list[Ring]:
        """Store a status of one of our messages; `after` seconds on the channel's clock."""
        return await self.receive(
            statuses=[
                StatusUpdate(
                    phone_number_id=NUMBER,
                    wamid=wamid,
                    status=status,
                    at=datetime(2026, 12, 1, tzinfo=UTC) + timedelta(seconds=after),
                    callback_data=key,
                    error_code=error_code,
                    raw=b"{}",
                )
            ]
        )

    async def identity_change(self, person: Person) -> list[Ring]:
        """A person became somebody else to us."""
        return await self.receive(
            self.item(
                person,
                kind=InboundKind.IDENTITY_CHANGED,
                identity=IdentityChange(
                    change="customer_identity_changed",
                    previous_user_id=person.user_id,
                    previous_wa_id=person.wa_id,
                ),
            )
        )

    # -- turns and proposals

    async def conversation(self, person: Person = MARIA, text: str = "oi") -> uuid.UUID:
        """Store a message and return its conversation."""
        await self.receive(self.item(person, text=text))
        found: uuid.UUID = await self.pool.fetchval(
            "SELECT conversation_id FROM inbox ORDER BY seq DESC LIMIT 1"
        )
        return found

    async def turn(self, person: Person = MARIA) -> uuid.UUID:
        """A taken turn of one new message."""
        conversation = await self.conversation(person)
        taken = await Take(self.deps).run(ConversationRef(conversation_id=conversation))
        assert taken.turn_id is not None
        return taken.turn_id

    async def think(
        self, turn: uuid.UUID, tool: str, arguments: dict[str, Any], *, step: int = 0
    ) -> StepRef:
        """Write the model's answer: one call of a tool, thought on the facts of now."""
        async with self.pool.acquire() as connection:
            facts = (await turns.read(connection, turn)).facts_seq
            await turns.store_answer(
                connection,
                turn=turn,
                step=step,
                model="by hand",
                facts_seq=facts,
                stop_reason="tool_use",
                content=[
                    {"type": "tool_use", "id": f"toolu_{step}", "name": tool, "input": arguments}
                ],
                usage={},
                request_id=None,
                latency_ms=1,
            )
        return StepRef(turn_id=turn, step=step)

    async def propose(self, ref: StepRef) -> ProposalDone:
        """Run *propose*."""
        return await Propose(self.deps).run(ref)

    async def close(self, turn: uuid.UUID, outcome: str = "proposal") -> bool:
        """Close a turn; whether more waits."""
        return await Close(self.deps).run(TurnEnd(turn_id=turn, outcome=outcome))

    async def pending(
        self,
        tool: str = "create_pix_charge",
        arguments: dict[str, Any] | None = None,
        person: Person = MARIA,
    ) -> str:
        """The id of a new pending action, its turn closed."""
        turn = await self.turn(person)
        done = await self.propose(await self.think(turn, tool, arguments or CHARGE))
        assert done.action is not None, f"not proposed: {done!r}"
        await self.close(turn)
        return done.action.action_id

    async def executing(self, **what: Any) -> str:
        """The id of an action that was just confirmed and decided."""
        action = await self.pending(**what)
        await self.click(action, person=what.get("person", MARIA))
        step = await self.decide(action)
        assert step.status == "executing", f"not executing: {step!r}"
        return action

    # -- the activities

    async def decide(self, action: str) -> NextStep:
        """Run *decide*."""
        return await Decide(self.deps).run(ActionRef(action_id=action))

    async def execute(self, action: str) -> None:
        """Run *execute* as Temporal would."""
        await ActivityEnvironment().run(Execute(self.deps).run, ActionRef(action_id=action))

    async def settle(self, action: str) -> None:
        """Run *settle*."""
        await Settle(self.deps).run(ActionRef(action_id=action))

    # -- the steps of an attempt, one by one

    async def open_attempt(self, action: str) -> int | None:
        """The first step of an attempt."""
        async with self.pool.acquire() as connection:
            return await executing.open_attempt(connection, action, lock_s=120.0)

    async def fence(self, action: str, attempt: int) -> int | None:
        """The last step before the wire."""
        async with self.pool.acquire() as connection:
            return await executing.fence(connection, action, attempt=attempt)

    async def claim(self, key: str) -> outbox.DueMessage | None:
        """Claim a message."""
        async with self.pool.acquire() as connection:
            return await outbox.claim(connection, key)

    async def out(self, function: Callable[..., Awaitable[None]], key: str, **fields: Any) -> None:
        """Record what became of a copy."""
        async with self.pool.acquire() as connection:
            await function(connection, key, **fields)

    # -- what rows and the far side say

    async def row(self, action: str) -> dict[str, Any]:
        """The action's row."""
        found = await self.pool.fetchrow("SELECT * FROM actions WHERE id = $1", action)
        assert found is not None
        return dict(found)

    async def message(self, key: str) -> dict[str, Any]:
        """A message's row."""
        found = await self.pool.fetchrow("SELECT * FROM outbox WHERE key = $1", key)
        assert found is not None, f"no message {key!r}"
        return dict(found)

    async def messages(self, action: str, like: str = "%") -> list[str]:
        """The keys of the action's messages, without the common head."""
        head = f"action:{action}:"
        rows = await self.pool.fetch(
            "SELECT key FROM outbox WHERE action_id = $1 AND key LIKE $2 ORDER BY seq",
            action,
            head + like,
        )
        return [row["key"].removeprefix(head) for row in rows]

    async def sends(self, action: str) -> list[str | None]:
        """The outcomes of the action's sends, in order."""
        rows = await self.pool.fetch(
            "SELECT outcome FROM sends WHERE action_id = $1 ORDER BY n", action
        )
        return [row["outcome"] for row in rows]

    async def events(self, action: str) -> list[str]:
        """The action's chain of evidence."""
        rows = await self.pool.fetch(
            "SELECT event FROM audit_events WHERE action_id = $1 ORDER BY n", action
        )
        return [row["event"] for row in rows]

    async def refusals(self, action: str) -> list[str | None]:
        """Why each decision was not followed, in the order stored."""
        rows = await self.pool.fetch(
            "SELECT refusal FROM decisions WHERE action_id = $1 ORDER BY seq", action
        )
        return [row["refusal"] for row in rows]

    async def unanswered(self, action: str) -> int:
        """How many decisions still wait for their answer."""
        count: int = await self.pool.fetchval(
            "SELECT count(*) FROM decisions WHERE action_id = $1 AND answered_at IS NULL", action
        )
        return count

    async def charges(self) -> int:
        """How many effects the provider made."""
        counters = await self.payments.counters()
        total: int = counters["effects_total"]
        return total

    async def wallet_cents(self) -> int:
        """What the wallet holds."""
        cents: int = await self.pool.fetchval("SELECT available_cents FROM wallets")
        return cents

    async def reach(self, url: str) -> None:
        """Point the account's gateway at another address."""
        await self.pool.execute(
            "UPDATE accounts SET gateway_config = jsonb_set(gateway_config, '{base_url}', $1)", url
        )


def registry(wallet: AddToWallet, books: FailingBooks) -> Registry:
    """The bundled tools and those of these tests."""
    bundled = load_tools(["tools.scheduling", "tools.customers", "tools.payments"])
    return Registry([*(bundled.get(name) for name in bundled.names), wallet, books])


async def seed(pool: Pool, payments_url: str) -> None:
    """The demo account, with a second owner."""
    async with pool.acquire() as connection:
        await seed_demo(
            connection,
            phone_number_id=NUMBER,
            base_url=payments_url,
            recipient_id="re_simulated",
            allow_plain_http=True,
        )
        await connection.execute(
            "INSERT INTO members (account_id, user_id, wa_id, name, role)"
            " VALUES ('demo', $1, $2, 'Rita Lemos', 'owner')",
            RITA.user_id,
            RITA.wa_id,
        )


@asynccontextmanager
async def running_world(databases: Databases, payments_url: str) -> AsyncIterator[World]:
    """A fresh database with the demo's account, and everything that works on it."""
    async with AsyncExitStack() as stack:
        dsn = await databases.fresh()
        stack.push_async_callback(databases.drop, dsn)
        pool = await open_pool(dsn, max_size=25, server_settings={"search_path": SEARCH_PATH})
        stack.push_async_callback(pool.close)
        await seed(pool, payments_url)
        anthropic = build_anthropic("key-of-a-test", base_url=NOBODY)
        stack.push_async_callback(anthropic.close)
        gateways = Gateways(GatewayRegistry(), lambda _name: API_KEY)
        stack.push_async_callback(gateways.aclose)
        sender = WhatsAppSender(base_url=NOBODY, version="v26.0", token="token-of-a-test")
        wallet, books = AddToWallet(), FailingBooks()
        deps = Deps(
            pool=pool,
            registry=registry(wallet, books),
            claude=ClaudeClient(anthropic),
            whatsapp=await stack.enter_async_context(sender),
            gateways=gateways,
        )
        payments = await stack.enter_async_context(
            PaymentsSimulatorClient(payments_url, admin_secret=ADMIN)
        )
        await payments.reset()
        yield World(
            pool=pool,
            dsn=dsn,
            deps=deps,
            payments=payments,
            payments_url=payments_url,
            wallet=wallet,
            books=books,
        )


@asynccontextmanager
async def running_payments() -> AsyncIterator[str]:
    """The simulated provider on a real port."""
    app = create_payments(PaymentsSimulatorConfig(api_key=API_KEY, admin_secret=ADMIN))
    async with serving(app) as url:
        yield url


async def waits_for_a_lock(pool: Pool, *, sessions: int = 1) -> None:
    """Return when so many sessions of this database wait for a lock; fails after two seconds."""
    for _ in range(200):
        waiting: int = await pool.fetchval(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        if waiting >= sessions:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{sessions} sessions should wait for a lock, {waiting} do")
