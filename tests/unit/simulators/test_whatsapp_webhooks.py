"""What the product receives: signed escaped bytes, Meta's shapes, batches, redelivery."""

import json
from pathlib import Path

import pytest

from simulators.whatsapp import Person
from simulators.whatsapp.envelopes import Cut
from tests.unit.simulators.whatsapp_bench import bench, config, expected_signature


async def test_signature_covers_the_escaped_bytes() -> None:
    """The signature is over the bytes as sent, and those are ASCII with Meta's escapes."""
    async with bench() as b:
        await b.admin.send_text("maria", "João @ a/b 💸")

        raw = b.product.raw[0]
        assert b.product.signatures == [expected_signature(raw)]
        assert raw.isascii()
        assert b"Jo\\u00e3o \\u0040 a\\/b \\ud83d\\udcb8" in raw
        assert b.product.messages()[0]["text"]["body"] == "João @ a/b 💸"
        rewritten = json.dumps(json.loads(raw), separators=(",", ":")).encode()
        assert expected_signature(rewritten) != b.product.signatures[0]


async def test_message_has_metas_shape() -> None:
    """A text carries contact, both addresses, a wamid and whole seconds as a string."""
    async with bench() as b:
        sent = await b.admin.send_text("maria", "oi")

        value = b.product.values()[0]
        assert value["metadata"]["phone_number_id"] == "100200300400500"
        assert value["contacts"] == [
            {
                "profile": {"name": "Maria Souza"},
                "wa_id": "5511988880001",
                "user_id": "BR.1000000000000001",
            }
        ]
        message = value["messages"][0]
        assert message["id"] == sent.wamid
        assert message["id"].startswith("wamid.")
        assert message["timestamp"].isdigit()
        assert message["from"] == "5511988880001"
        assert message["from_user_id"] == "BR.1000000000000001"


async def test_persons_without_phone_or_without_user_id() -> None:
    """A missing address is omitted everywhere, never replaced."""
    async with bench() as b:
        await b.admin.put_person(Person(id="velho", name="Velho", wa_id="5511977770001"))
        await b.admin.send_text("ana", "oi")
        await b.admin.send_text("velho", "oi")

        by_user, by_phone = b.product.values()
        assert "wa_id" not in by_user["contacts"][0]
        assert "from" not in by_user["messages"][0]
        assert "user_id" not in by_phone["contacts"][0]
        assert "from_user_id" not in by_phone["messages"][0]


async def test_press_carries_the_prompt_as_context() -> None:
    """A press is a new message each time, with the button's id and the prompt's wamid."""
    async with bench() as b:
        prompt = (await b.prompt()).json()["messages"][0]["id"]
        await b.admin.drain()
        pressed = await b.admin.press("maria", "confirm", times=2)

        first, second = b.product.messages()
        assert [first["id"], second["id"]] == [x.wamid for x in pressed.messages]
        assert first["id"] != second["id"]
        assert first["context"] == {"from": "551140000000", "id": prompt}
        assert first["interactive"] == {
            "type": "button_reply",
            "button_reply": {"id": "pa:confirm:1", "title": "Confirmar"},
        }


async def test_press_by_another_person_and_without_context() -> None:
    """Anyone may press any button id, and the context may be left out as Meta sometimes does."""
    async with bench() as b:
        await b.prompt()
        await b.admin.press("carlos", button_id="pa:confirm:1", with_context=False)
        await b.admin.press("carlos", button_id="never:seen")

        stranger, unknown = b.product.messages()
        assert stranger["from"] == "5511988880002"
        assert "context" not in stranger
        assert unknown["interactive"]["button_reply"]["id"] == "never:seen"


async def test_redelivers_the_same_bytes_until_200() -> None:
    """Anything but 200 brings the same bytes again; 200 ends it."""
    async with bench() as b:
        b.product.answers = [503, 202, 500]
        sent = await b.admin.send_text("maria", "oi")
        assert sent.status_codes == [503]
        await b.admin.drain()

        assert len(b.product.raw) == 4
        assert len(set(b.product.raw)) == 1
        lines = (await b.admin.journal()).webhooks
        assert [(x.attempt, x.status_code) for x in lines] == [
            (1, 503),
            (2, 202),
            (3, 500),
            (4, 200),
        ]


async def test_redeliver_on_demand_counts_clicks() -> None:
    """The last webhook comes again as often as asked, and each POST with a click is counted."""
    async with bench() as b:
        await b.prompt()
        await b.admin.drain()
        clicked = await b.admin.press("maria", "confirm")
        await b.admin.send_text("maria", "e aí?")
        assert await b.admin.redeliver(clicked.wamid, times=5, concurrent=True) == [200] * 5
        assert await b.admin.redeliver() == [200]

        counters = await b.admin.counters()
        assert counters.presses == 1
        assert counters.click_deliveries == 6
        texts = [m for m in b.product.messages() if m["type"] == "text"]
        assert len(texts) == 2


async def test_hold_and_release() -> None:
    """Held webhooks wait, and leave on release."""
    async with bench() as b:
        await b.admin.hold("message")
        await b.admin.send_text("maria", "um")
        await b.admin.send_text("maria", "dois")
        await b.send()
        await b.admin.wait_messages("maria", status="delivered")
        assert b.product.messages() == []
        assert len(b.product.statuses()) == 2

        assert await b.admin.release() == 2
        await b.admin.drain()
        assert {m["text"]["body"] for m in b.product.messages()} == {"um", "dois"}


@pytest.mark.parametrize(
    ("cut", "bodies", "entries", "changes"),
    [("one_value", 1, 1, 1), ("changes", 1, 1, 6), ("entries", 1, 6, 6), ("bodies", 6, 6, 6)],
)
async def test_batches(cut: Cut, bodies: int, entries: int, changes: int) -> None:
    """Collected messages come in one body, doubled, reordered and in every cut."""
    async with bench() as b:
        await b.admin.batch_start()
        for text in ("um", "dois", "três"):
            await b.admin.send_text("maria", text)
        assert b.product.raw == []
        codes = await b.admin.batch_deliver(cut=cut, order="reversed", copies=2)

        assert codes == [200] * bodies
        assert len(b.product.raw) == bodies
        assert sum(len(body["entry"]) for body in b.product.bodies) == entries
        assert len(b.product.values()) == changes
        texts = [m["text"]["body"] for m in b.product.messages()]
        assert sorted(texts) == ["dois", "dois", "três", "três", "um", "um"]
        if bodies == 1:
            assert texts == ["três", "três", "dois", "dois", "um", "um"]


async def test_batch_may_mix_statuses_and_junk_and_come_again() -> None:
    """Statuses and junk share a body with messages; a kept batch can be cut anew."""
    async with bench() as b:
        await b.admin.batch_start(with_statuses=True)
        await b.send()
        await b.admin.wait_messages("maria", status="delivered")
        await b.admin.send_text("maria", "oi")
        await b.admin.batch_add({"nonsense": True})
        await b.admin.batch_add("not even an object")
        await b.admin.batch_deliver(keep=True)
        await b.admin.batch_deliver(cut="bodies")

        value = b.product.values()[0]
        assert [s["status"] for s in value["statuses"]] == ["sent", "delivered"]
        assert len(value["messages"]) == 3
        assert len(b.product.raw) == 1 + 5


async def test_raw_message_and_raw_body() -> None:
    """Any object and any bytes can be posted, signed rightly, wrongly or not at all."""
    async with bench() as b:
        await b.admin.send_raw(
            "maria",
            {"type": "system", "system": {"type": "user_changed_number", "wa_id": "5511900000000"}},
            with_contact=False,
        )
        assert "contacts" not in b.product.values()[0]
        assert b.product.messages()[0]["system"]["type"] == "user_changed_number"

        assert await b.admin.post_raw_body({"object": "outro"}) == 200
        assert await b.admin.post_raw_body(text='{"broken', signature="") == 200
        assert await b.admin.post_raw_body(text="{}", signature="sha256=00") == 200
        assert b.product.raw[-2:] == [b'{"broken', b"{}"]
        assert b.product.signatures[1:] == [
            expected_signature(b'{"object":"outro"}'),
            None,
            "sha256=00",
        ]


async def test_raw_body_with_a_click_is_counted_as_one() -> None:
    """A hand-made body counts as a click delivery if it holds a click, and only then."""
    async with bench() as b:
        click = {"type": "interactive", "interactive": {"type": "button_reply"}}
        body = {"entry": [{"changes": [{"value": {"messages": [click]}}]}]}
        await b.admin.post_raw_body(body)
        await b.admin.post_raw_body({"entry": [{"changes": [None]}]})
        await b.admin.post_raw_body(text="not json")

        assert (await b.admin.counters()).click_deliveries == 1


async def test_a_changed_number_no_longer_reaches_the_person() -> None:
    """After a change of number the old one reaches nobody."""
    async with bench() as b:
        await b.admin.put_person(
            Person(id="maria", name="Maria", wa_id="5511955550000", user_id="BR.9")
        )
        await b.send()
        assert await b.admin.messages("maria") == []
        await b.send(to="+5511955550000")
        assert len(await b.admin.messages("maria")) == 1


async def test_verification_handshake() -> None:
    """The GET handshake happens when asked for and reports whether the challenge came back."""
    async with bench() as b:
        verified = await b.admin.verify_webhook("the-token")

        assert verified.matched
        assert b.product.gets[0]["hub.verify_token"] == "the-token"
        assert b.product.gets[0]["hub.mode"] == "subscribe"


async def test_undelivered_webhooks_and_chats_survive_a_restart(tmp_path: Path) -> None:
    """After a restart the old prompt can be pressed, and what was not answered comes again."""
    settings = config(state_file=f"{tmp_path}/state.sqlite")
    async with bench(settings) as b:
        await b.prompt()
        await b.admin.drain()
        b.product.answers = [503] * 1000
        await b.admin.send_text("maria", "perdida?")
    async with bench(settings) as b:
        await b.admin.drain()
        assert [m["text"]["body"] for m in b.product.messages()] == ["perdida?"]
        chat = await b.admin.messages("maria")
        assert [m.type for m in chat] == ["interactive", "text"]

        await b.admin.press("maria", "confirm")
        click = b.product.messages()[-1]
        assert click["context"]["id"] == chat[0].wamid
        assert (await b.admin.counters()).prompts_by_person == {"maria": 1}


async def test_statuses_that_a_stop_prevented_come_after_the_restart(tmp_path: Path) -> None:
    """A message accepted just before a stop still gets its statuses, with its key."""
    path = f"{tmp_path}/state.sqlite"
    async with bench(config(state_file=path, status_delay_seconds=60.0)) as b:
        await b.send(biz_opaque_callback_data="turn:1:reply:1")
    async with bench(config(state_file=path)) as b:
        await b.admin.drain()
        statuses = b.product.statuses()
        assert [s["status"] for s in statuses] == ["sent", "delivered"]
        assert {s["biz_opaque_callback_data"] for s in statuses} == {"turn:1:reply:1"}


async def test_reset_clears_everything(tmp_path: Path) -> None:
    """After a reset nothing of before is left, on disk neither."""
    settings = config(state_file=f"{tmp_path}/state.sqlite")
    async with bench(settings) as b:
        await b.prompt()
        await b.admin.press("maria", "confirm")
        await b.admin.reset()
        assert await b.admin.messages("maria") == []
        assert (await b.admin.counters()).presses == 0
        assert (await b.admin.journal()).webhooks == []
    async with bench(settings) as b:
        assert await b.admin.messages("maria") == []
