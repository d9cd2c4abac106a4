"""A webhook of anybody's making: whatever comes is answered without a 5xx, and what nobody signed
leaves no trace."""

import copy
import hashlib
import hmac
import json
import os
import random
from collections.abc import Iterator
from typing import Any

import httpx

from tests.corpus import whatsapp_bodies
from tests.harness.scenes import propose
from tests.harness.stack import APP_SECRET, NUMBER, Stack

BODIES = 600
TRACES = ("inbox", "decisions", "actions", "outbox", "conversations")
"""Besides the body itself; a status of an earlier message may come at any time."""

JUNK: tuple[object, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, "", " ", "\x00", "\ud83d", "x" * 70_001, "é" * 2000,
    [], {}, [[]], [None], {"id": None}, {"id": ["x"]}, "1796000000", "99999999999999999999",
    "-5", "NaN", "2026-01-01", "wamid.X", "BR.1", "pa:confirm:" + "0" * 32, NUMBER,
)  # fmt: skip


def _mutants(dice: random.Random) -> Iterator[bytes]:
    """Recorded bodies on our own number with one to six of their values replaced, removed, doubled
    or renamed, and now and then with bytes changed."""
    recorded = [
        json.loads(json.dumps(body).replace('"1122334455667"', f'"{NUMBER}"'))
        for _, body in whatsapp_bodies()
    ]
    while True:
        body = json.loads(json.dumps(dice.choice(recorded)))
        for _ in range(dice.randint(1, 6)):
            _mutate(dice, body)
        # A lone surrogate has no bytes of its own: it is sent as JSON's escape.
        text = bytearray(
            json.dumps(body, ensure_ascii=dice.random() < 0.9).encode(errors="replace")
        )
        if dice.random() < 0.2:
            for _ in range(dice.randint(1, 20)):
                text[dice.randrange(len(text))] = dice.randrange(256)
        yield bytes(text)


def _mutate(dice: random.Random, node: Any) -> None:
    """Go down by chance, and do something to what is found; `node` is a dict or a list."""
    places = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not places:
        return
    place = dice.choice(places)
    below = node[place]
    if isinstance(below, dict | list) and below and dice.random() < 0.85:
        _mutate(dice, below)
        return
    match dice.randint(0, 4):
        case 0 if isinstance(node, dict):
            del node[place]
        case 1 if isinstance(node, dict):
            node[f"{place}_"] = node.pop(place)
        case 2 if isinstance(node, list):
            node.append(copy.deepcopy(below))
        case _:
            node[place] = copy.deepcopy(dice.choice(JUNK))


def _seed() -> int:
    return 20260311 if "CI" in os.environ else random.randrange(1 << 32)


async def _traces(stack: Stack, body: bytes) -> list[int]:
    """Rows in each table, and how often this very body is stored."""
    rows = [await stack.pool.fetchval(f"SELECT count(*) FROM {table}") for table in TRACES]
    same = "SELECT count(*) FROM webhooks WHERE body = $1"
    return [*rows, await stack.pool.fetchval(same, body)]


async def test_no_body_breaks_the_webhook(stack: Stack) -> None:
    """600 mutants of what Meta sends, each first with a signature of another secret: 401 and no row
    anywhere; then rightly signed: 200, and its bytes are stored. No effect comes of any of them,
    the pending action stays, and its click still executes once."""
    action = await propose(stack)
    await stack.quiet()
    await stack.stop_worker()  # or answers to mutants, and their statuses, would be traces too
    seed = _seed()
    mutants = _mutants(random.Random(seed))
    async with httpx.AsyncClient(trust_env=False) as http:
        for n in range(BODIES):
            body = next(mutants)
            before = await _traces(stack, body) if n % 20 == 0 else []
            for secret, expected in ((b"another secret", 401), (APP_SECRET.encode(), 200)):
                digest = hmac.new(secret, body, hashlib.sha256).hexdigest()
                answer = await http.post(
                    f"{stack.api_url}/webhooks/whatsapp",
                    content=body,
                    headers={"X-Hub-Signature-256": f"sha256={digest}"},
                )
                assert answer.status_code == expected, (seed, n, body)
                if before and expected == 401:
                    assert await _traces(stack, body) == before
    stored = await stack.pool.fetchval("SELECT count(*) FROM webhooks")
    assert stored >= BODIES
    await stack.start_worker()
    assert await stack.charges() == 0
    assert (await stack.action(action["id"]))["status"] == "pending"
    await stack.whatsapp.press("maria", button_id=f"pa:confirm:{action['id']}")
    await stack.wait_status(action["id"], "executed")
    assert await stack.charges() == 1
