"""The webhook: everything signed is taken, nothing unsigned is, and only what is ours acts."""

import hashlib
import hmac
import json

import httpx
import pytest

from channels.whatsapp.parse import parse_webhook
from domain.inbound import Webhook
from tests.corpus import whatsapp_bodies
from tests.harness.scenes import propose
from tests.harness.stack import APP_SECRET, NUMBER, Stack


def _signed(body: bytes) -> dict[str, str]:
    digest = hmac.new(APP_SECRET.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": f"sha256={digest}"}


async def _post(stack: Stack, body: bytes, headers: dict[str, str]) -> int:
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            f"{stack.api_url}/webhooks/whatsapp", content=body, headers=headers
        )
    return answer.status_code


async def _count(stack: Stack, what: str) -> int:
    count: int = await stack.pool.fetchval(f"SELECT count(*) FROM {what}")
    return count


@pytest.mark.parametrize("own_number", [False, True], ids=["as they are", "on our number"])
async def test_every_recorded_body_is_taken(stack: Stack, own_number: bool) -> None:
    """Every body of the corpus → 200 and stored; none makes an action, none is a decision; sent
    again, nothing is stored twice."""
    await stack.stop_worker()
    recorded = list(whatsapp_bodies())
    assert len(recorded) > 60
    texts = []
    for _name, body in recorded:
        text = json.dumps(body)
        if own_number:
            text = text.replace('"1122334455667"', f'"{NUMBER}"')
        texts.append(text)
        for _ in range(2):
            assert await _post(stack, text.encode(), _signed(text.encode())) == 200
    assert await _count(stack, "webhooks") == 2 * len(recorded)
    ids = {one for text in texts for one in _ids(parse_webhook(text.encode()))}
    assert await _count(stack, "inbox") + await _count(stack, "statuses") == len(ids)
    assert await _count(stack, "actions") == 0
    assert await _count(stack, "decisions") == 0
    if not own_number:
        assert await _count(stack, "inbox WHERE done_at IS NULL") == 0


@pytest.mark.parametrize(
    "header",
    [None, "", "sha256=", "sha256=" + "0" * 64, "sha1=" + "0" * 40, "sha256=é" + "0" * 63],
    ids=["missing", "empty", "no digest", "wrong", "other kind", "not ASCII"],
)
async def test_without_a_right_signature_nothing_is_stored(
    stack: Stack, header: str | None
) -> None:
    """A bad or missing signature → 401, nothing stored, not even the body."""
    body = b'{"object":"whatsapp_business_account","entry":[]}'
    headers = {} if header is None else {"X-Hub-Signature-256": header.encode()}
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            f"{stack.api_url}/webhooks/whatsapp",
            content=body,
            headers=headers,  # type: ignore[arg-type]  # raw bytes reach the wire as they are
        )
    assert answer.status_code == 401
    assert await _count(stack, "webhooks") == 0


async def test_the_signature_is_over_the_bytes(stack: Stack) -> None:
    """A body signed in other bytes of the same JSON is refused: raw bytes are what counts."""
    signed = json.dumps({"object": "x", "entry": []}).encode()
    sent = json.dumps({"object": "x", "entry": []}, indent=1).encode()
    assert await _post(stack, sent, _signed(signed)) == 401


async def test_a_body_over_three_mebibytes_is_refused(stack: Stack) -> None:
    """Meta's bodies have at most 3 MB: a larger one is refused before it is held in memory."""
    body = b" " * (3 * 1024 * 1024 + 1)
    assert await _post(stack, body, _signed(body)) == 413


def _ids(webhook: Webhook) -> list[tuple[object, ...]]:
    """What makes an item unique: several recorded bodies carry the same wamid."""
    items = [(item.phone_number_id, item.key) for item in webhook.items]
    return [*items, *((one.wamid, one.status, one.at) for one in webhook.statuses)]


def _text_item(wamid: str, text: str) -> dict[str, object]:
    return {
        "from": "5511988880001",
        "from_user_id": "BR.1000000000000001",
        "id": wamid,
        "timestamp": "1796000000",
        "type": "text",
        "text": {"body": text},
    }


async def test_one_bad_item_loses_no_other(stack: Stack) -> None:
    """`\\u0000` and a lone surrogate in items of a batch → they are quarantined, the good ones are
    handled."""
    await stack.stop_worker()
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "551140000000", "phone_number_id": NUMBER},
        "contacts": [
            {
                "profile": {"name": "Maria"},
                "wa_id": "5511988880001",
                "user_id": "BR.1000000000000001",
            }
        ],
        "messages": [
            _text_item("wamid.good1", "oi"),
            _text_item("wamid.nul", "a\x00b"),
            _text_item("wamid.surrogate", "a\ud800b"),
            {"id": 7, "type": []},
            "junk",
            _text_item("wamid.good2", "tudo bem?"),
        ],
    }
    body = json.dumps(
        {
            "object": "whatsapp_business_account",
            "entry": [{"id": "1", "changes": [{"field": "messages", "value": value}]}],
        }
    ).encode()
    assert await _post(stack, body, _signed(body)) == 200
    rows = await stack.pool.fetch("SELECT kind, text FROM inbox WHERE done_at IS NULL ORDER BY seq")
    assert [row["text"] for row in rows] == ["oi", "tudo bem?"]
    assert await _count(stack, "inbox WHERE kind = 'quarantined'") == 4


async def test_signed_junk_is_taken_and_quarantined(stack: Stack) -> None:
    """Signed but broken JSON → 200 (seven days of redelivery cannot mend it), raw bytes stored."""
    for body in (b"{", b"[]", b'"text"', b"\xff\xfe", b"[" * 5000):
        assert await _post(stack, body, _signed(body)) == 200
    assert await _count(stack, "webhooks") == 5
    assert await _count(stack, "inbox WHERE kind = 'quarantined'") >= 4


async def test_malformed_and_foreign_buttons_are_silence(stack: Stack) -> None:
    """Buttons with unknown, malformed or foreign ids change nothing and are answered by nothing."""
    action = await propose(stack)
    for own_id in (
        "pa:confirm:" + "0" * 32,
        f"pa:confirm:{action['id'].upper()}",
        f"pa:confirm:{action['id']}\n",
        f"pa:execute:{action['id']}",
        f"pa:confirm:{action['id']}0",
        "callback_data",
    ):
        await stack.whatsapp.press("maria", button_id=own_id, with_context=False)
    await stack.whatsapp.drain()
    assert (await stack.action(action["id"]))["status"] == "pending"
    assert await stack.charges() == 0


async def test_the_handshake(stack: Stack) -> None:
    """GET with our verify token → the bare challenge; anything else → 403."""
    good = await stack.whatsapp.verify_webhook("verify-token-of-a-test")
    bad = await stack.whatsapp.verify_webhook("another-token")
    assert good.matched
    assert not bad.matched
