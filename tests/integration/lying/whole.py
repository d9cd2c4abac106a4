"""Liars before the whole system: many conversations at once, each with a plan of its own. The
model's stand-in says what the plan says, the persons press what they were shown or were not.

The same plans are played in one event loop and through real processes.
"""

import asyncio
import itertools
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from simulators.claude.client import ClaudeSimulatorClient
from simulators.payments.client import PaymentsSimulatorClient
from simulators.whatsapp.client import WhatsAppSimulatorClient
from simulators.whatsapp.config import Person
from simulators.whatsapp.models import ChatMessage
from store.connection import Pool
from tests.integration.lying import zoo
from tests.integration.lying.records import Answered, Changed, FarSide, Trip
from tests.integration.lying.zoo import Known

ACCOUNT = "demo"
SECRET_MAIL, SECRET_DOCUMENT = "segredo@alheio.example", "15350946056"
JOAO_MAIL, JOAO_DOCUMENT = "joao.silva@exemplo.com.br", "52912345634"
OVER_WITHIN_S = 40.0
LATE_S = 700.0
"""Beyond every deadline, ten minutes, and the grace."""

KINDS = {**zoo.KINDS, **zoo.UNSTORABLE}
LIES = sorted(KINDS.keys() - {"hands over"})
"""A conversation that was handed over is quiet, and nothing more could be seen in it."""

HONEST = ("charge", "charge described", "booking", "e-mail", "transfer", "charge in reais")
THEN = ("right",) * 8 + ("wrong", "cancel", "twice", "cross", "made up", "yes", "late", "never")
ONCE_MORE = 12
"""The last answer of a plan comes as often as it is asked for."""


class Sides(Protocol):
    """A running system: its rows, and its far sides."""

    pool: Pool
    whatsapp: WhatsAppSimulatorClient
    claude: ClaudeSimulatorClient
    payments: PaymentsSimulatorClient


@dataclass(frozen=True)
class Ask:
    """A message, what the model says to it, and what is done with what was shown."""

    token: str
    lies: tuple[str, ...]
    then: str


@dataclass
class Liar:
    """A person, and the model that speaks to him."""

    name: str
    user_id: str
    wa_id: str
    public: bool
    asks: list[Ask]
    known: Known
    customer: int | None = None
    conversation: object = None


@dataclass
class Crowd:
    """All of them. `counted` is for the report."""

    sides: Sides
    liars: list[Liar]
    counted: Counter[str] = field(default_factory=Counter)
    late_at: float = 0.0
    """When the clocks were moved beyond every deadline (epoch seconds)."""

    def said(self, far: FarSide) -> str:
        """The counters as one line."""
        kinds = {kind for liar in self.liars for ask in liar.asks for kind in ask.lies}
        acted = sum(one.acted for _, one in far.of(Trip))
        counts = {
            "conversations": len(self.liars),
            "kinds of answers": len(kinds),
            "answers": sum(1 for _ in far.of(Answered)),
            **self.counted,
            "effects at the provider": acted,
            "effects in the books": sum(1 for _ in far.of(Changed)),
        }
        return ", ".join(f"{name} {count}" for name, count in counts.items())

    async def play(self) -> None:
        """Everybody at once; then, when every deadline is over, once more what was not decided."""
        await asyncio.gather(*(self._play(one) for one in self.liars))
        await self._over("executing")
        self.late_at = time.time()
        await self.sides.pool.execute("UPDATE fake.skew SET seconds = seconds + $1", LATE_S)
        await asyncio.gather(*(self._press_all(one) for one in self.liars))
        await self._over("executing", "pending")

    async def _play(self, liar: Liar) -> None:
        for ask in liar.asks:
            prompt = await self._ask(liar, ask)
            await self._decide(liar, ask, prompt)

    async def _ask(self, liar: Liar, ask: Ask) -> ChatMessage | None:
        """The newest prompt after the turn is over; None if there is none that is new."""
        liar.known.actions = [_action(one) for one in await self._prompts(liar)]
        for n, kind in enumerate(ask.lies):
            last = n == len(ask.lies) - 1
            await self._script(kind, liar, ask.token, times=ONCE_MORE if last else 1)
        self.counted["messages of people"] += 1
        await self.sides.whatsapp.send_text(liar.name, f"{ask.token} faz para mim")
        await self._turn_over(liar)
        await self.sides.claude.clear_faults(contains=ask.token)
        prompts = await self._prompts(liar)
        new = [one for one in prompts if _action(one) not in liar.known.actions]
        self.counted["prompts shown"] += len(new)
        return new[-1] if new else None

    async def _script(self, kind: str, liar: Liar, token: str, *, times: int) -> None:
        stop, content = KINDS[kind](liar.known)
        if stop is None:
            await self.sides.claude.fault(
                "no_stop_reason", content=content, contains=token, times=times
            )
            return
        await self.sides.claude.script(content, stop_reason=stop, contains=token, times=times)

    async def _turn_over(self, liar: Liar) -> None:
        """Until nothing of his waits. A conversation that hangs is a finding."""
        for _ in range(int(OVER_WITHIN_S / 0.1)):
            waiting = await self.sides.pool.fetchval(
                "SELECT (SELECT count(*) FROM inbox WHERE user_id = $1 AND done_at IS NULL)"
                " + (SELECT count(*) FROM turns t JOIN conversations c ON c.id = t.conversation_id"
                "    WHERE c.user_id = $1 AND t.closed_at IS NULL)"
                " + (SELECT count(*) FROM outbox o JOIN conversations c ON"
                "    c.id = o.conversation_id WHERE c.user_id = $1 AND o.done_at IS NULL)",
                liar.user_id,
            )
            if waiting == 0:
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"a turn of {liar.name!r} hangs: {[one.lies for one in liar.asks]!r}")

    async def _prompts(self, liar: Liar) -> list[ChatMessage]:
        chat = await self.sides.whatsapp.messages(liar.name, author="business")
        return [one for one in chat if one.type == "interactive"]

    # -- what is pressed

    async def _decide(self, liar: Liar, ask: Ask, prompt: ChatMessage | None) -> None:
        if prompt is None:
            return
        confirm = f"pa:confirm:{_action(prompt)}"
        match ask.then:
            case "right":
                await self._press(liar.name, confirm, prompt)
            case "twice":
                await self._press(liar.name, confirm, prompt, times=3)
            case "wrong":
                await self._press(self._other(liar), confirm, None)
            case "cross":  # the right person, under another message than its own
                older = [one for one in await self._prompts(liar) if one.wamid != prompt.wamid]
                await self._press(liar.name, confirm, older[0] if older else None)
            case "cancel":
                await self._press(liar.name, confirm.replace("confirm", "cancel"), prompt)
                await self._press(liar.name, confirm, prompt)
            case "made up":
                await self._press(liar.name, f"pa:confirm:{'0' * 32}", None)
                await self._press(liar.name, "confirm", None)
            case "yes":
                await asyncio.sleep(1.1)  # the channel's clock has whole seconds
                await self.sides.whatsapp.send_text(liar.name, "sim")
                await self._turn_over(liar)
            case _:
                return

    def _other(self, liar: Liar) -> str:
        place = self.liars.index(liar)
        return self.liars[(place + 1) % len(self.liars)].name

    async def _press(
        self, who: str, button: str, prompt: ChatMessage | None, *, times: int = 1
    ) -> None:
        self.counted["presses"] += times
        await self.sides.whatsapp.press(
            who,
            button_id=button,
            prompt=prompt.wamid if prompt else None,
            with_context=prompt is not None,
            times=times,
            concurrent=times > 1,
        )

    async def _press_all(self, liar: Liar) -> None:
        for prompt in await self._prompts(liar):
            await self._press(liar.name, f"pa:confirm:{_action(prompt)}", prompt)

    async def _over(self, *statuses: str) -> None:
        """Until every decision is answered, and no action has one of these statuses."""
        for _ in range(int(OVER_WITHIN_S / 0.1)):
            waiting = await self.sides.pool.fetchval(
                "SELECT (SELECT count(*) FROM decisions WHERE answered_at IS NULL)"
                " + (SELECT count(*) FROM actions WHERE status = ANY($1))",
                statuses,
            )
            if waiting == 0:
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"{waiting} decisions and actions are left")


def _action(prompt: ChatMessage) -> str:
    return prompt.buttons[0].id.rpartition(":")[2]


def plans(count: int, asks: int, *, seed: int) -> list[Liar]:
    """So many persons with so many messages each, by chance; every kind of lie comes once before
    any comes twice."""
    chance = random.Random(seed)
    lies = itertools.cycle(chance.sample(LIES, len(LIES)))
    return [_liar(n, asks, chance, lies) for n in range(count)]


def _liar(n: int, asks: int, chance: random.Random, lies: "itertools.cycle[str]") -> Liar:
    public = n % 3 == 2
    known = Known(
        customers=[f"Cliente {n}"] if public else ["João Silva", "", "Carlos Lima"],
        professionals=["Dra. Ana Torres"],
        first_day=(datetime.now(UTC) + timedelta(days=2)).date(),
        foreign={},
        n=64 * n,
    )
    return Liar(
        name=f"p{n}",
        user_id=f"BR.8{n:015d}",
        wa_id=f"55118{n:08d}",
        public=public,
        asks=[_plan(n, ask, chance, lies) for ask in range(asks)],
        known=known,
    )


def _plan(n: int, ask: int, chance: random.Random, lies: "itertools.cycle[str]") -> Ask:
    """Lies first, then mostly something that may be shown; sometimes the same lie for ever."""
    said = [next(lies) for _ in range(chance.choice([1, 1, 2]))]
    match chance.randrange(8):
        case 0:
            pass
        case 1:
            said = [*["read"] * 5, chance.choice(HONEST)]
        case 2:
            said.append("reply")
        case _:
            said.append(chance.choice(HONEST))
    return Ask(token=f"m{n}x{ask}q", lies=tuple(said), then=chance.choice(THEN))


# -- rows


async def enter(sides: Sides, liars: list[Liar]) -> None:
    """Make everybody known to WhatsApp and to the account, and another account beside it."""
    other = await _another_account(sides.pool)
    joao = await _customer_named(sides.pool, "João Silva")
    for liar in liars:
        person = Person(id=liar.name, name=liar.name, user_id=liar.user_id, wa_id=liar.wa_id)
        await sides.whatsapp.put_person(person)
        liar.known.foreign = {**other, **({"customer": joao} if liar.public else {})}
        if liar.public:
            liar.customer = await _own_record(sides.pool, liar)
            liar.known.customers *= 3
            liar.known.customers[1] = str(liar.customer)
            continue
        liar.known.customers[1] = str(joao)
        await sides.pool.execute(
            "INSERT INTO members (account_id, user_id, wa_id, name, role)"
            " VALUES ($1, $2, $3, $4, 'owner')",
            ACCOUNT,
            liar.user_id,
            liar.wa_id,
            f"Dona {liar.name}",
        )


async def _customer_named(pool: Pool, name: str) -> int:
    found: int = await pool.fetchval(
        "SELECT id FROM customers WHERE account_id = $1 AND name = $2", ACCOUNT, name
    )
    return found


async def _own_record(pool: Pool, liar: Liar) -> int:
    made: int = await pool.fetchval(
        "INSERT INTO customers (account_id, name) VALUES ($1, $2) RETURNING id",
        ACCOUNT,
        liar.known.customers[0],
    )
    await pool.execute(
        "INSERT INTO customer_links (account_id, customer_id, user_id) VALUES ($1, $2, $3)",
        ACCOUNT,
        made,
        liar.user_id,
    )
    return made


async def _another_account(pool: Pool) -> dict[str, object]:
    await pool.execute(
        "INSERT INTO accounts (id, name, time_zone) VALUES ('alheia', 'Alheia', $1)",
        "America/Sao_Paulo",
    )
    customer = await pool.fetchval(
        "INSERT INTO customers (account_id, name, document, email)"
        " VALUES ('alheia', 'Alheia Pessoa', $1, $2) RETURNING id",
        SECRET_DOCUMENT,
        SECRET_MAIL,
    )
    professional = await pool.fetchval(
        "INSERT INTO professionals (account_id, name) VALUES ('alheia', 'Zuleica') RETURNING id"
    )
    booking = await pool.fetchval(
        "INSERT INTO bookings (account_id, professional_id, customer_id, starts_at, ends_at)"
        " VALUES ('alheia', $1, $2, now() + interval '9 days',"
        " now() + interval '9 days 1 hour') RETURNING id",
        professional,
        customer,
    )
    odd = {
        name: await pool.fetchval(
            "INSERT INTO customers (account_id, name, blocked) VALUES ($1, $2, $3) RETURNING id",
            ACCOUNT,
            text,
            name == "blocked",
        )
        for name, text in {
            "trap": "Zé Cruz\nValor: R$ 0,01",
            "bidi": "Bia \u202eSouza",
            "blocked": "Nilo Bloch",
        }.items()
    }
    return {
        "customer": customer,
        "name": "Alheia Pessoa",
        "professional": professional,
        "booking": booking,
        "charge": 1,
        "action": "f" * 32,
        "recipient": "Conta Alheia",
        **odd,
    }
