"""Each planned fault, seen through the real SDK without its own retries."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest

from tests.unit.simulators.claude_kit import NOW, Far, body, running, user


@pytest.fixture(scope="module")
async def far() -> AsyncIterator[Far]:
    """One simulator for this file; every test filters its faults by its own mark."""
    async with running() as far:
        yield far


def pix(mark: str) -> list[dict[str, Any]]:
    """A Pix for a name that no other test uses."""
    return [user(f"{NOW}\ngera um Pix de 150 reais pro {mark}")]


STATUSES: dict[str, tuple[dict[str, Any], type[anthropic.APIStatusError], int, str]] = {
    "rate_limit": ({"retry_after": 3}, anthropic.RateLimitError, 429, "rate_limit_error"),
    "spend_limit": ({}, anthropic.RateLimitError, 429, "rate_limit_error"),
    "workspace_spend_limit": ({}, anthropic.BadRequestError, 400, "invalid_request_error"),
    "overloaded": ({}, anthropic.InternalServerError, 529, "overloaded_error"),
    "server_error": ({}, anthropic.InternalServerError, 500, "api_error"),
    "unauthorized": ({}, anthropic.AuthenticationError, 401, "authentication_error"),
    "payment_required": ({}, anthropic.APIStatusError, 402, "billing_error"),
    "too_large": ({}, anthropic.APIStatusError, 413, "request_too_large"),
    "status": (
        {"status": 503, "error_type": "api_error", "retry_after": 2},
        anthropic.InternalServerError,
        503,
        "api_error",
    ),
}


@pytest.mark.parametrize("kind", STATUSES)
async def test_a_status_fault_reaches_the_sdk_once(far: Far, kind: str) -> None:
    """The SDK raises the right class; the fault is used up by one call; the next one works."""
    options, error, status, error_type = STATUSES[kind]
    mark = f"Status{kind.title().replace('_', '')}"
    await far.admin.fault(kind, contains=mark, **options)
    with pytest.raises(error) as caught:
        await far.create(pix(mark))
    assert caught.value.status_code == status
    assert caught.value.type == error_type
    assert caught.value.request_id
    retry_after = options.get("retry_after")
    assert caught.value.response.headers.get("retry-after") == (
        str(retry_after) if retry_after else None
    )
    assert (await far.create(pix(mark))).stop_reason == "tool_use"
    assert await far.admin.calls(mark) == 2


async def test_the_spend_limit_has_its_code_and_no_retry_after(far: Far) -> None:
    """What tells "pay" from "wait" is the error code."""
    await far.admin.fault("spend_limit", contains="Spenta")
    with pytest.raises(anthropic.RateLimitError) as caught:
        await far.create(pix("Spenta"))
    assert caught.value.error_code == "enforced_spend_limit_reached"
    assert "retry-after" not in caught.value.response.headers


async def test_a_dropped_connection_gives_no_answer(far: Far) -> None:
    """The SDK sees a connection error, and the journal a call without a status."""
    await far.admin.fault("drop", contains="Dropa")
    with pytest.raises(anthropic.APIConnectionError) as caught:
        await far.create(pix("Dropa"))
    assert not isinstance(caught.value, anthropic.APITimeoutError)
    (entry,) = await far.admin.journal(contains="Dropa")
    assert (entry["fault"], entry["status"], entry["response"]) == ("drop", 0, None)


async def test_a_slow_answer_times_the_caller_out(far: Far) -> None:
    """The caller's timeout fires; a patient caller gets the answer."""
    await far.admin.fault("timeout", seconds=0.4, contains="Lenta", times=2)
    with pytest.raises(anthropic.APITimeoutError):
        await far.create(pix("Lenta"), timeout=0.1)
    started = time.monotonic()
    assert (await far.create(pix("Lenta"))).stop_reason == "tool_use"
    assert time.monotonic() - started >= 0.4


async def test_a_200_that_is_html(far: Far) -> None:
    """A proxy's page is no API answer: the SDK hands it out as a bare string or, if it is
    labelled as JSON, chokes on it."""
    await far.admin.fault("html", contains="Pagina")
    assert "<html>" in await far.create(pix("Pagina"))
    await far.admin.fault("html", contains="Pagina", content_type="application/json")
    with pytest.raises(json.JSONDecodeError):
        await far.create(pix("Pagina"))


async def test_a_200_that_is_empty(far: Far) -> None:
    """`{}` is built into a message in which everything is None."""
    await far.admin.fault("empty_json", contains="Vazia")
    answer = await far.create(pix("Vazia"))
    assert answer.stop_reason is None
    assert answer.content is None


async def test_no_stop_reason_beside_a_complete_looking_call(far: Far) -> None:
    """The dangerous broken stream: a tool_use and no word on why it ended."""
    await far.admin.fault("no_stop_reason", contains="Semfim")
    answer = await far.create(pix("Semfim"))
    assert answer.stop_reason is None
    assert answer.content[0].type == "tool_use"


async def test_a_cut_input_is_valid_and_wrong(far: Far) -> None:
    """15000 cents become 15, with stop_reason max_tokens as the only sign."""
    await far.admin.fault("cut_input", contains="Cortada")
    answer = await far.create(pix("Cortada"))
    assert answer.stop_reason == "max_tokens"
    assert answer.content[0].input == {"customer": "Cortada", "amount_cents": 15}


async def test_a_refusal_is_empty(far: Far) -> None:
    """A refusal has no content and names its category."""
    await far.admin.fault("refusal", contains="Recusa")
    answer = await far.create(pix("Recusa"))
    assert (answer.stop_reason, answer.content) == ("refusal", [])
    assert answer.stop_details.category == "general_harms"


async def test_two_calls_at_once(far: Far) -> None:
    """The brain's call doubled, or the two calls as given, each with its own id."""
    await far.admin.fault("two_tools", contains="Dupla")
    answer = await far.create(pix("Dupla"))
    assert [block.name for block in answer.content] == ["create_pix_charge"] * 2
    assert answer.content[0].id != answer.content[1].id
    given = [
        {"type": "tool_use", "name": "get_balance", "input": {}},
        {"type": "tool_use", "name": "create_pix_charge", "input": {"amount_cents": 1}},
    ]
    await far.admin.fault("two_tools", contains="Dupla", content=given)
    answer = await far.create(pix("Dupla"))
    assert [block.name for block in answer.content] == ["get_balance", "create_pix_charge"]
    assert answer.stop_reason == "tool_use"


async def test_text_beside_a_call(far: Far) -> None:
    """The claim that it is done stands before the very call that would do it."""
    await far.admin.fault("text_beside_tool", contains="Gabola", text="Pronto, gerei!")
    answer = await far.create(pix("Gabola"))
    assert answer.content[0].text == "Pronto, gerei!"
    assert answer.content[1].type == "tool_use"
    assert answer.stop_reason == "tool_use"


async def test_an_empty_end_turn(far: Far) -> None:
    """The model ends its turn without a word."""
    await far.admin.fault("empty_end_turn", contains="Muda")
    answer = await far.create(pix("Muda"))
    assert (answer.stop_reason, answer.content) == ("end_turn", [])


async def test_a_scripted_answer_is_said_word_for_word(far: Far) -> None:
    """`say` gives the blocks as written, with the stop reason that fits them or was given."""
    call = {"type": "tool_use", "name": "refund_charge", "input": {"charge": "c1"}}
    await far.admin.script([{"type": "text", "text": "Só texto."}], contains="Roteira")
    await far.admin.script([call], contains="Roteira")
    await far.admin.script([call], stop_reason="pause_turn", contains="Roteira")
    answers = [await far.create(pix("Roteira")) for _ in range(3)]
    assert answers[0].content[0].text == "Só texto."
    assert answers[1].content[0].input == {"charge": "c1"}
    assert [a.stop_reason for a in answers] == ["end_turn", "tool_use", "pause_turn"]


async def test_a_repeat_can_look_different_and_mean_the_same(far: Far) -> None:
    """`vary` leaves the first call alone and reorders and reformats the repeat."""
    await far.admin.fault("vary", contains="Varia", times=2)
    first = (await far.create(pix("Varia"))).content[0].input
    second = (await far.create(pix("Varia"))).content[0].input
    assert first == {"customer": "Varia", "amount_cents": 15000}
    assert list(second.items()) == [("amount_cents", 15000), ("customer", " VARIA ")]


async def test_moments_and_amounts_vary_too(far: Far) -> None:
    """A moment goes to UTC; cents become "150.00" where the schema takes a string."""
    schema = {
        "type": "object",
        "properties": {
            "starts_at": {"type": "string"},
            "amount_cents": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        },
    }
    call = {
        "type": "tool_use",
        "name": "mixed",
        "input": {"starts_at": "2026-12-01T14:00:00-03:00", "amount_cents": 15000},
    }
    await far.admin.fault("vary", contains="Fuso", content=[call], only_repeats=False)
    answer = await far.create(pix("Fuso"), tools=[{"name": "mixed", "input_schema": schema}])
    assert answer.content[0].input == {
        "amount_cents": "150.00",
        "starts_at": "2026-12-01T17:00:00Z",
    }


async def test_faults_of_side_by_side_tests_do_not_mix(far: Far) -> None:
    """A fault takes only calls with its text, in the tool loop too, and may let some pass."""
    await far.admin.fault("server_error", contains="Alfa", skip=1, times=2)
    await far.admin.fault("overloaded", contains="Beta")
    assert (await far.create(pix("Gama"))).stop_reason == "tool_use"
    assert (await far.create(pix("Alfa"))).stop_reason == "tool_use"
    outcomes = await asyncio.gather(
        far.create(pix("Alfa")),
        far.create(pix("Beta")),
        far.create(pix("Alfa")),
        return_exceptions=True,
    )
    statuses = [o.status_code for o in outcomes if isinstance(o, anthropic.APIStatusError)]
    assert statuses == [500, 529, 500]
    assert (await far.create(pix("Alfa"))).stop_reason == "tool_use"


async def test_a_broken_request_uses_up_no_fault(far: Far) -> None:
    """The 400 comes first, so that a planned fault still meets a sound call."""
    await far.admin.fault("overloaded", contains="Quebrada")
    with pytest.raises(anthropic.BadRequestError):
        await far.create(pix("Quebrada"), tool_choice={"type": "tool", "name": "nope"})
    assert [f["contains"] for f in await far.admin.faults()].count("Quebrada") == 1
    await far.admin.clear_faults("Quebrada")
    assert (await far.create(pix("Quebrada"))).stop_reason == "tool_use"


async def test_the_sdks_own_retries_are_seen(far: Far) -> None:
    """With max_retries=2 one 529 costs a second call: the count that a product must avoid."""
    await far.admin.fault("overloaded", contains="Insiste")
    retrying = far.sdk.with_options(max_retries=2)
    answer = await retrying.messages.create(**body(pix("Insiste")))
    assert answer.stop_reason == "tool_use"
    assert await far.admin.calls("Insiste") == 2
