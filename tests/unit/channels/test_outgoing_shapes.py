"""What we build: button ids, limits, and the JSON of each message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from channels.whatsapp.buttons import Verdict, button_id, parse_button_id
from channels.whatsapp.error_codes import AMBIGUOUS, REFUSALS, RETRY_SECONDS, pair_rate_delay
from channels.whatsapp.limits import (
    MessageRefusedError,
    MessageTooLong,
    check_prompt,
    check_text,
    measure,
)
from channels.whatsapp.messages import read_receipt, render
from domain.outbound import OUTBOUND_MESSAGE, PromptMessage, Recipient, TextMessage
from tests.unit.channels.envelopes import ACTION, ANA, ANA_ID

BUTTONS = [(f"pa:confirm:{ACTION}", "Confirmar"), (f"pa:cancel:{ACTION}", "Cancelar")]
PROMPT = PromptMessage(
    text="Pagar R$ 10,00 a João",
    confirm_id=BUTTONS[0][0],
    confirm_title="Confirmar",
    cancel_id=BUTTONS[1][0],
    cancel_title="Cancelar",
)


@given(
    st.sampled_from(["confirm", "cancel"]), st.text("0123456789abcdef", min_size=32, max_size=32)
)
def test_button_ids_come_back(verdict: Verdict, action_id: str) -> None:
    """What we put behind a button is what we read from a click."""
    assert parse_button_id(button_id(verdict, action_id)) == (verdict, action_id)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Confirmar",
        f"pa:confirm:{ACTION}\n",
        f" pa:confirm:{ACTION}",
        f"pa:confirm:{ACTION.upper()}",
        f"PA:confirm:{ACTION}",
        f"pa:approve:{ACTION}",
        f"pa:confirm:{ACTION[:-1]}",
        f"pa:confirm:{ACTION}0",
        f"pa:confirm:{'٣' * 32}",
        f"pa:confirm:{ACTION}:pa:cancel:{ACTION}",
    ],
)
def test_foreign_button_ids(text: str) -> None:
    """An id that is not exactly ours is nobody's button."""
    assert parse_button_id(text) is None


@pytest.mark.parametrize("action_id", ["", ACTION.upper(), ACTION + "\n", "x" * 32])
def test_button_of_no_action(action_id: str) -> None:
    """We never send a button that we could not read back."""
    with pytest.raises(ValueError, match="32 lower-case hex"):
        button_id("confirm", action_id)


def test_measure_takes_the_larger_unit() -> None:
    """An emoji outside the first plane counts as the two units that some clients count."""
    assert (measure("abc"), measure("ção"), measure("🙂"), measure("👨‍👩‍👧")) == (3, 3, 2, 8)


@pytest.mark.parametrize("sign", ["a", "ç", "🙂"])
def test_prompt_limit_to_the_unit(sign: str) -> None:
    """1,024 fit and 1,025 are refused with both numbers, also when counted in emoji."""
    fits = sign * (1024 // measure(sign))
    check_prompt(fits, BUTTONS)
    with pytest.raises(MessageTooLong) as caught:
        check_prompt(fits + "b", BUTTONS)
    assert (caught.value.length, caught.value.limit.maximum) == (1025, 1024)
    assert "1025" in str(caught.value)
    assert "1024" in str(caught.value)


def test_text_limit_to_the_unit() -> None:
    """4,096 fit, 4,097 do not."""
    check_text("a" * 4096)
    with pytest.raises(MessageTooLong):
        check_text("a" * 4097)


@pytest.mark.parametrize("text", ["", " \n", "a\x00", "a\ud800"])
def test_unsendable_text(text: str) -> None:
    """Blank or unencodable text is refused before the wire."""
    with pytest.raises(MessageRefusedError):
        check_text(text)


@pytest.mark.parametrize(
    "buttons",
    [
        [],
        [*BUTTONS, ("a", "a"), ("b", "b")],
        [BUTTONS[0], (BUTTONS[0][0], "Outro")],
        [BUTTONS[0], ("other", "Confirmar")],
        [("a", "x" * 21)],
        [("a" * 257, "x")],
        [("a", "🙂" * 11)],
        [("a", " ")],
    ],
)
def test_unsendable_buttons(buttons: list[tuple[str, str]]) -> None:
    """Too many, equal, blank or over-long buttons are refused."""
    with pytest.raises(MessageRefusedError):
        check_prompt("texto", buttons)


def test_prompt_json() -> None:
    """A prompt is Meta's interactive message with our two ids and our own key."""
    assert render(PROMPT, Recipient(wa_id=ANA), callback_data="action:1:prompt") == {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": f"+{ANA}",
        "type": "interactive",
        "interactive": {
            "type": "button",
            "body": {"text": "Pagar R$ 10,00 a João"},
            "action": {
                "buttons": [
                    {"type": "reply", "reply": {"id": BUTTONS[0][0], "title": "Confirmar"}},
                    {"type": "reply", "reply": {"id": BUTTONS[1][0], "title": "Cancelar"}},
                ]
            },
        },
        "biz_opaque_callback_data": "action:1:prompt",
    }


@pytest.mark.parametrize(
    ("recipient", "expected"),
    [
        (Recipient(wa_id=ANA, user_id=ANA_ID), {"to": f"+{ANA}"}),
        (Recipient(wa_id=f"+{ANA}"), {"to": f"+{ANA}"}),
        (Recipient(user_id=ANA_ID), {"recipient": ANA_ID}),
    ],
)
def test_address(recipient: Recipient, expected: dict[str, str]) -> None:
    """A phone always goes out with one `+`; a user id alone goes into its own field."""
    body = render(TextMessage(text="oi"), recipient, callback_data="k")
    assert {key: body[key] for key in ("to", "recipient") if key in body} == expected


@pytest.mark.parametrize("wa_id", ["abc", "+", "55 11", "٥٥١١٩٨٧٦٥", "1" * 21, "+5511\n"])
def test_no_phone(wa_id: str) -> None:
    """What is no phone is refused instead of reaching a stranger."""
    with pytest.raises(MessageRefusedError):
        render(TextMessage(text="oi"), Recipient(wa_id=wa_id), callback_data="k")


def test_recipient_is_somebody() -> None:
    """A recipient without ids cannot be made."""
    with pytest.raises(ValidationError):
        Recipient()
    with pytest.raises(ValidationError):
        Recipient(wa_id="")


@pytest.mark.parametrize("data", ["", "k" * 513])
def test_callback_data(data: str) -> None:
    """A key that would not come back is refused: without it an unknown send stays unknown."""
    with pytest.raises(MessageRefusedError):
        render(TextMessage(text="oi"), Recipient(wa_id=ANA), callback_data=data)


@pytest.mark.parametrize("message", [PROMPT, TextMessage(text="oi")])
def test_messages_survive_the_outbox(message: PromptMessage | TextMessage) -> None:
    """A message read back from its row is the message."""
    assert OUTBOUND_MESSAGE.validate_json(message.model_dump_json()) == message


def test_read_receipt() -> None:
    """Read, with and without the typing sign."""
    plain = {"messaging_product": "whatsapp", "status": "read", "message_id": "w"}
    assert read_receipt("w", typing=False) == plain
    assert read_receipt("w", typing=True) == {**plain, "typing_indicator": {"type": "text"}}


def test_one_class_a_code() -> None:
    """No code is in two classes, so that no order of looking decides."""
    tables = [set(RETRY_SECONDS), set(AMBIGUOUS), set(REFUSALS)]
    assert sum(map(len, tables)) == len(set().union(*tables))


def test_pair_rate_delay() -> None:
    """Meta's 4^n seconds, but never under the six that one message takes."""
    assert [pair_rate_delay(n) for n in (1, 2, 3, 4, 5, 99)] == [6, 6, 16, 64, 256, 256]
    with pytest.raises(ValueError, match="from 1"):
        pair_rate_delay(0)
