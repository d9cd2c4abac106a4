"""The phone page: guarded, served locally, and a way in to the product by webhooks only."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from simulators.whatsapp.server import running
from tests.unit.simulators.whatsapp_bench import PAGE_SECRET, Bench, bench, config

PAGE = Path("simulators/whatsapp/page")
PIX = (
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000"
    "5204000053039865406150.005802BR5907Clinica6009SAO PAULO62070503***6304ABCD"
)


@pytest.fixture
async def b() -> AsyncIterator[Bench]:
    """Give a simulator in-process."""
    async with bench() as running_bench:
        yield running_bench


@asynccontextmanager
async def opened(b: Bench) -> AsyncIterator[httpx.AsyncClient]:
    """Open the page as a browser does; the client then holds the cookie."""
    transport = httpx.ASGITransport(b.app)
    async with httpx.AsyncClient(base_url="http://graph", transport=transport) as browser:
        response = await browser.get("/phone", params={"key": PAGE_SECRET})
        assert response.status_code == 200
        yield browser


async def test_page_needs_the_key_and_leaks_it_nowhere(b: Bench) -> None:
    """Without the key there is no page; with it the secret is in a strict cookie only."""
    for params in ({}, {"key": "wrong"}):
        assert (await b.graph.get("/phone", params=params)).status_code == 401
    response = await b.graph.get("/phone", params={"key": PAGE_SECRET})
    assert response.status_code == 200
    assert PAGE_SECRET not in response.text
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "frame-ancestors 'none'" in response.headers["content-security-policy"]


async def test_page_is_in_portuguese_and_complete(b: Bench) -> None:
    """Each file that the page names is served, and no other file of the program."""
    async with opened(b) as browser:
        html = (await browser.get("/phone")).text
        assert '<html lang="pt-BR">' in html
        for name in set(re.findall(r"/phone/files/([\w.]+)", html)):
            assert (await browser.get(f"/phone/files/{name}")).status_code == 200
        assert (await browser.get("/phone/files/..%2Fconfig.py")).status_code == 404


def test_files_of_the_page_name_no_other_host() -> None:
    """Nothing is loaded from elsewhere; the one address is the name of the SVG format."""
    for file in PAGE.iterdir():
        hosts = set(re.findall(r"https?://[^\s\"'<>]+", file.read_text(encoding="utf-8")))
        assert hosts <= {"http://www.w3.org/2000/svg"}


def test_script_never_writes_markup() -> None:
    """No message can become markup: the script has no way to write HTML at all."""
    script = (PAGE / "phone.js").read_text(encoding="utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in script


@pytest.mark.parametrize("name", ["composer", "send", "person-select", "redeliver"])
def test_fixed_parts_have_test_ids(name: str) -> None:
    """Tests find the fixed parts of the page by data-testid."""
    assert f'data-testid="{name}"' in (PAGE / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, 403),  # a form of another site cannot set our header
        ({"X-Sim-Page": "1", "Origin": "http://evil.example"}, 403),
        ({"X-Sim-Page": "1", "Origin": "null"}, 403),
        ({"X-Sim-Page": "1", "Origin": "http://graph"}, 200),
        ({"X-Sim-Page": "1"}, 200),
    ],
)
async def test_foreign_origins_cannot_act(b: Bench, headers: dict[str, str], code: int) -> None:
    """The cookie alone moves nothing; another origin is refused even with our header."""
    async with opened(b) as browser:
        typed = {"person": "maria", "text": "oi"}
        response = await browser.post("/phone/api/send", json=typed, headers=headers)
        assert response.status_code == code
    await b.admin.drain()
    assert len(b.product.messages()) == int(code == 200)


async def test_endpoints_need_the_secret(b: Bench) -> None:
    """Nobody reads a chat or a QR picture without the secret."""
    for path in ("api/persons", "api/chat?person=maria", "api/events", "qr.svg?wamid=x"):
        assert (await b.graph.get(f"/phone/{path}")).status_code == 401
    typed = {"person": "maria", "text": "oi"}
    headers = {"X-Sim-Page": "1"}
    response = await b.graph.post("/phone/api/send", json=typed, headers=headers)
    assert response.status_code == 401


async def test_chat_press_and_redeliver_through_the_page(b: Bench) -> None:
    """Typing, pressing (twice) and redelivering all end as signed webhooks."""
    async with opened(b) as browser:
        browser.headers["X-Sim-Page"] = "1"
        await browser.post("/phone/api/send", json={"person": "maria", "text": "gera um pix"})
        wamid = (await b.prompt()).json()["messages"][0]["id"]
        await b.admin.drain()
        press = {"person": "maria", "wamid": wamid, "button_id": "pa:confirm:1"}
        for _ in range(2):
            assert (await browser.post("/phone/api/press", json=press)).status_code == 200
        other = press | {"person": "carlos"}
        assert (await browser.post("/phone/api/press", json=other)).status_code == 404
        await b.admin.drain()
        again = await browser.post("/phone/api/redeliver", json={"person": "maria"})
        assert again.json() == {"status_code": 200}

        view = (await browser.get("/phone/api/chat", params={"person": "maria"})).json()
    assert [m["direction"] for m in view["messages"]] == ["out", "in", "out", "out"]
    buttons = view["messages"][1]["buttons"]
    assert [(x["role"], x["title"], x["presses"]) for x in buttons] == [
        ("confirm", "Confirmar", 2),
        ("cancel", "Cancelar", 0),
    ]
    assert view["messages"][2]["quote"] == "Gerar Pix de R$ 150,00?"
    assert (await b.admin.counters()).click_deliveries == 3
    assert None not in b.product.signatures


async def test_ticks_follow_webhook_and_read(b: Bench) -> None:
    """One tick until the webhook answers 200, two after it, blue when the business read it."""
    await b.admin.hold()
    sent = await b.admin.send_text("maria", "oi")

    async def status() -> str:
        return (await b.admin.messages("maria"))[0].status

    assert await status() == "sending"
    await b.admin.release()
    await b.admin.drain()
    assert await status() == "received"
    b.app.state.simulator.mark_read(sent.wamid, typing=False)
    assert await status() == "read"


async def test_viewing_sends_read_once(b: Bench) -> None:
    """What the page shows is reported as read, once."""
    async with opened(b) as browser:
        browser.headers["X-Sim-Page"] = "1"
        await b.send()
        await b.admin.drain()
        counts = [
            (await browser.post("/phone/api/viewed", json={"person": "maria"})).json()["read"]
            for _ in range(2)
        ]
    await b.admin.drain()
    assert counts == [1, 0]
    assert [s["status"] for s in b.product.statuses()] == ["sent", "delivered", "read"]


async def test_pix_code_has_a_picture_and_other_texts_have_none(b: Bench) -> None:
    """Only a message that is a Pix code as a whole gets a QR picture."""
    async with opened(b) as browser:
        code = (await b.send(text={"body": PIX})).json()["messages"][0]["id"]
        text = (await b.send(text={"body": f"Segue: {PIX}"})).json()["messages"][0]["id"]
        picture = await browser.get("/phone/qr.svg", params={"wamid": code})
        assert picture.headers["content-type"] == "image/svg+xml"
        assert "<svg" in picture.text
        assert (await browser.get("/phone/qr.svg", params={"wamid": text})).status_code == 404
        view = (await browser.get("/phone/api/chat", params={"person": "maria"})).json()
    assert [m["pix"] for m in view["messages"]] == [True, False]


async def test_free_number_becomes_a_person(b: Bench) -> None:
    """Any number can be used; the same number is the same person, nonsense is refused."""
    async with opened(b) as browser:
        browser.headers["X-Sim-Page"] = "1"
        number = {"phone": "+55 11 97777-1234"}
        first = (await browser.post("/phone/api/persons", json=number)).json()
        second = (await browser.post("/phone/api/persons", json=number)).json()
        assert first == second
        refused = await browser.post("/phone/api/persons", json={"phone": "abc"})
        assert refused.status_code == 422
    await b.admin.send_text(first["id"], "oi")
    message = b.product.messages()[0]
    assert message["from"] == "5511977771234"
    assert re.fullmatch(r"BR\.\d{16,}", message["from_user_id"])


async def test_events_tell_of_changes_and_end_with_the_server() -> None:
    """The stream speaks at once and on a change, and does not hold up the server's exit."""
    settings = config(webhook_url="http://127.0.0.1:9/none", retry_initial_seconds=60.0)
    seen: asyncio.Queue[str] = asyncio.Queue()
    headers = {"X-Sim-Secret": PAGE_SECRET}
    async with running(settings) as url:
        http = httpx.AsyncClient(base_url=url, headers=headers, trust_env=False)

        async def listen() -> None:
            async with http.stream("GET", "/phone/api/events") as stream:
                async for line in stream.aiter_lines():
                    if line:
                        seen.put_nowait(line)

        listener = asyncio.create_task(listen())
        first = await asyncio.wait_for(seen.get(), 5)
        await http.post("/phone/api/send", json={"person": "maria", "text": "oi"})
        second = await asyncio.wait_for(seen.get(), 5)
        assert first.startswith('data: {"version": ')
        assert first != second
    await asyncio.wait_for(listener, 2)
    await http.aclose()
