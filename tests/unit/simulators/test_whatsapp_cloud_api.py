"""The Graph API side: token, shapes, limits, statuses, faults; and no idempotency."""

from typing import Any

import httpx
import pytest

from simulators.whatsapp.models import StatusStep
from simulators.whatsapp.server import running
from tests.unit.simulators.whatsapp_bench import (
    MARIA,
    NUMBER,
    PAGE_SECRET,
    TOKEN,
    Bench,
    bench,
    config,
    interactive,
)


def error_of(response: httpx.Response) -> tuple[int, int]:
    """Return HTTP status and Graph error code."""
    error = response.json()["error"]
    assert {"message", "type", "code", "error_data", "fbtrace_id"} <= error.keys()
    return response.status_code, error["code"]


async def test_send_answers_in_metas_shape_and_is_not_idempotent() -> None:
    """Each POST is a message of its own, also when it equals the one before."""
    async with bench() as b:
        first, second = await b.send(), await b.send()

        body = first.json()
        assert body["messaging_product"] == "whatsapp"
        assert body["contacts"] == [{"input": MARIA, "wa_id": "5511988880001"}]
        assert body["messages"][0]["id"] != second.json()["messages"][0]["id"]
        assert (await b.admin.counters()).accepted_by_person == {"maria": 2}


async def test_send_by_user_id() -> None:
    """A send to `recipient` answers with user_id and no wa_id, and reaches the person."""
    async with bench() as b:
        user_id = "BR.1000000000000003"
        response = await b.send(to=None, recipient=user_id)

        assert response.json()["contacts"] == [{"input": user_id, "user_id": user_id}]
        assert len(await b.admin.messages("ana")) == 1


@pytest.mark.parametrize(
    ("to", "reached"),
    [
        ("+551188880001", True),  # the ninth digit is bridged
        ("5511988880001", True),
        ("11988880001", True),  # without + read as a number of the business's country
        ("+11988880001", False),  # the same digits with + are another country's
    ],
)
async def test_number_forms(to: str, reached: bool) -> None:
    """Numbers are read as Meta does; a stranger is accepted, then reported as failed."""
    async with bench() as b:
        assert (await b.send(to=to, biz_opaque_callback_data="k")).status_code == 200
        await b.admin.drain()

        assert len(await b.admin.messages("maria")) == int(reached)
        failed = [s for s in b.product.statuses() if s["status"] == "failed"]
        if not reached:
            assert failed[0]["errors"][0]["code"] == 131026
            assert failed[0]["biz_opaque_callback_data"] == "k"
        assert len(failed) == int(not reached)


async def test_token_version_and_number_are_checked() -> None:
    """A wrong token is 190/401; a wrong path is code 100."""
    async with bench() as b:
        url = f"/v26.0/{NUMBER}/messages"
        wrong = await b.graph.post(url, json={}, headers={"Authorization": "Bearer nope"})
        assert error_of(wrong) == (401, 190)
        assert error_of(await b.graph.post("/v26.0/999/messages", json={})) == (400, 100)
        assert error_of(await b.graph.post(f"/v2x.0/{NUMBER}/messages", json={})) == (400, 100)
        assert error_of(await b.graph.post(url, content=b"{")) == (400, 100)


async def test_number_can_be_looked_up() -> None:
    """GET on the number answers who it is, with the token only."""
    async with bench() as b:
        url = f"/v26.0/{NUMBER}"
        assert (await b.graph.get(url)).json()["display_phone_number"] == "551140000000"
        assert error_of(await b.graph.get(url, headers={"Authorization": ""})) == (401, 190)


def _prompt(**changes: Any) -> dict[str, Any]:
    return {"type": "interactive", "text": None, "interactive": interactive(**changes)}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"text": {"body": "a" * 4096}}, None),
        ({"text": {"body": "a" * 4097}}, 100),
        ({"text": {"body": "💸" * 2049}}, 100),
        ({"text": {"body": "  "}}, 131009),
        ({"text": None}, 131008),
        ({"type": "sticker"}, 131051),
        ({"messaging_product": None}, 100),
        ({"to": None}, 131008),
        ({"biz_opaque_callback_data": "k" * 512}, None),
        ({"biz_opaque_callback_data": "k" * 513}, 100),
        ({"context": {"message_id": 5}}, 131009),
        (_prompt(body="a" * 1024), None),
        (_prompt(body="a" * 1025), 131009),
        (_prompt(buttons=[("a", "t" * 20)]), None),
        (_prompt(buttons=[("a", "t" * 21)]), 131009),
        (_prompt(buttons=[("i" * 256, "t")]), None),
        (_prompt(buttons=[("i" * 257, "t")]), 131009),
        (_prompt(buttons=[("a", "t"), ("a", "u")]), 131009),
        (_prompt(buttons=[("a", "t"), ("b", "t")]), 131009),
        (_prompt(buttons=[(str(n), str(n)) for n in range(4)]), 131009),
    ],
)
async def test_limits(fields: dict[str, Any], code: int | None) -> None:
    """A send at a limit passes; one beyond it is refused with Meta's code and not shown."""
    async with bench() as b:
        response = await b.send(**fields)

        if code is None:
            assert response.status_code == 200
        else:
            assert error_of(response) == (400, code)
        assert len(await b.admin.messages("maria")) == int(code is None)
        line = (await b.admin.journal()).sends[0]
        assert (line.accepted, line.error_code) == (code is None, code)


async def test_statuses_carry_the_callback_data() -> None:
    """By default sent, then delivered, with our key and both addresses."""
    async with bench() as b:
        await b.send(biz_opaque_callback_data="action:1:prompt")
        await b.admin.drain()

        sent, delivered = b.product.statuses()
        assert [sent["status"], delivered["status"]] == ["sent", "delivered"]
        assert sent["biz_opaque_callback_data"] == "action:1:prompt"
        assert sent["recipient_id"] == "5511988880001"
        assert sent["recipient_user_id"] == "BR.1000000000000001"


async def test_status_plan_any_order_before_the_response_and_doubled() -> None:
    """Statuses come in any order and before the response, only for the sends meant."""
    async with bench() as b:
        await b.admin.plan_statuses(
            [
                StatusStep(status="delivered", before_response=True, times=2),
                StatusStep(status="sent"),
            ],
            callback_prefix="action:",
        )
        await b.send(biz_opaque_callback_data="turn:1")
        await b.admin.drain()
        await b.send(biz_opaque_callback_data="action:1")
        before = [s["status"] for s in b.product.statuses()]
        await b.admin.drain()

        assert before[2:4] == ["delivered", "delivered"]
        assert [s["status"] for s in b.product.statuses()] == [
            "sent",
            "delivered",
            *before[2:4],
            "sent",
        ]


async def test_suppressed_and_failed_statuses() -> None:
    """An empty plan sends nothing; a failed message is never seen and has no contact."""
    async with bench() as b:
        await b.admin.plan_statuses([])
        await b.admin.plan_statuses([StatusStep(status="failed", error_code=131047)])
        await b.send()
        await b.prompt()
        await b.admin.drain()

        assert [s["status"] for s in b.product.statuses()] == ["failed"]
        failed = b.product.statuses()[0]
        assert failed["errors"][0]["code"] == 131047
        assert "recipient_user_id" not in failed
        assert "contacts" not in b.product.values()[0]
        assert [m.visible for m in await b.admin.messages("maria")] == [True, False]
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            await b.admin.press("maria", "confirm")


async def test_status_on_demand() -> None:
    """Any status of any message can be sent at any time."""
    async with bench() as b:
        await b.admin.plan_statuses([])
        wamid = (await b.send()).json()["messages"][0]["id"]
        assert await b.admin.send_status(wamid, "read", timestamp=1) == [200]

        assert (
            b.product.statuses()[0] | {"status": "read", "timestamp": "1"}
            == b.product.statuses()[0]
        )


async def test_read_marks_earlier_messages_and_shows_typing() -> None:
    """`read` marks the message and those before it; an unknown id is 131009."""
    async with bench() as b:
        await b.admin.send_text("maria", "um")
        wamid = (await b.admin.send_text("maria", "dois")).wamid
        url = f"/v26.0/{NUMBER}/messages"
        body = {
            "messaging_product": "whatsapp",
            "status": "read",
            "message_id": wamid,
            "typing_indicator": {"type": "text"},
        }
        assert (await b.graph.post(url, json=body)).json() == {"success": True}
        assert [m.status for m in await b.admin.messages("maria")] == ["read", "read"]
        assert "maria" in b.app.state.simulator.typing_until
        unknown = await b.graph.post(url, json=body | {"message_id": "wamid.x"})
        assert error_of(unknown) == (400, 131009)
        assert (await b.admin.counters()).sends_received == 0


async def test_errors_by_plan_hit_only_the_sends_meant() -> None:
    """The next K matching sends fail with the code asked; nothing is accepted."""
    async with bench() as b:
        await b.admin.plan_fault("error", code=131056, times=2, type="interactive")
        await b.admin.plan_fault("error", code=131000, http_status=500, callback_prefix="turn:")
        assert (await b.send()).status_code == 200
        assert error_of(await b.prompt()) == (400, 131056)
        assert error_of(await b.prompt()) == (400, 131056)
        assert (await b.prompt()).status_code == 200
        assert error_of(await b.send(biz_opaque_callback_data="turn:1:reply")) == (500, 131000)

        counters = await b.admin.counters()
        assert counters.accepted_by_person == {"maria": 2}
        assert counters.prompts_by_person == {"maria": 1}
        assert counters.sends_received == 5
        sends = (await b.admin.journal()).sends
        assert [s.accepted for s in sends] == [True, False, False, True, False]


async def _outcome(b: Bench) -> str:
    try:
        response = await b.send()
    except httpx.RemoteProtocolError:
        return "no answer"
    if "html" in response.headers["content-type"]:
        return f"html {response.status_code}"
    body = response.json()
    if "error" in body:
        return f"error {response.status_code}"
    return "id" if "messages" in body else "no id"


@pytest.mark.parametrize(
    ("mode", "outcome", "accepted"),
    [
        ("refuse", "no answer", 0),
        ("html", "html 502", 0),
        ("accept_drop", "no answer", 1),
        ("accept_delay", "id", 1),
        ("accept_500", "error 500", 1),
        ("accept_no_id", "no id", 1),
        ("accept_html", "html 502", 1),
    ],
)
async def test_faults_before_and_after_accepting(mode: Any, outcome: str, accepted: int) -> None:
    """What the caller sees does not tell what was accepted; the far side's count does."""
    async with bench() as b:
        await b.admin.plan_fault(mode, delay_seconds=0.01)
        assert await _outcome(b) == outcome
        assert len(await b.admin.messages("maria")) == accepted
        assert await _outcome(b) == "id"


@pytest.mark.parametrize(("mode", "accepted"), [("refuse", 0), ("accept_drop", 1)])
async def test_connection_is_closed_without_an_answer(mode: Any, accepted: int) -> None:
    """On a real socket the connection ends without a byte, and the server lives on."""
    settings = config(webhook_url="http://127.0.0.1:9/none", retry_initial_seconds=60.0)
    async with running(settings) as url, httpx.AsyncClient(trust_env=False) as http:
        headers = {"X-Sim-Secret": PAGE_SECRET}
        await http.post(f"{url}/admin/send-faults", json={"mode": mode}, headers=headers)

        async def send() -> httpx.Response:
            body = {"messaging_product": "whatsapp", "to": MARIA, "text": {"body": "x"}}
            bearer = {"Authorization": f"Bearer {TOKEN}"}
            return await http.post(f"{url}/v26.0/{NUMBER}/messages", json=body, headers=bearer)

        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await send()
        assert (await send()).status_code == 200
        chat = await http.get(f"{url}/admin/messages?person=maria", headers=headers)
        assert len(chat.json()) == accepted + 1


async def test_wait_returns_on_arrival_and_times_out() -> None:
    """A wait ends with the message it waits for, or says what did not come."""
    async with bench() as b:
        with pytest.raises(TimeoutError, match="0 of 1 messages"):
            await b.admin.wait_prompt("maria", timeout_seconds=0.05)
        await b.prompt()
        assert (await b.admin.wait_prompt("maria")).buttons[0].title == "Confirmar"
        assert (await b.admin.wait_message("maria", contains="150,00")).type == "interactive"


async def test_admin_needs_the_secret() -> None:
    """Without the secret, or with a wrong one, the admin API does nothing."""
    async with bench() as b:
        assert (await b.graph.post("/admin/reset")).status_code == 401
        wrong = await b.graph.get("/admin/info", headers={b"X-Sim-Secret": "é".encode()})
        assert wrong.status_code == 401
