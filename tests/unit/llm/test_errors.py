"""Every row of the mapping of failures, through the real SDK: one call each, never two."""

from typing import Any

import anthropic
import httpx2
import pytest

from llm.client import ClaudeClient
from llm.errors import FailureKind, ModelFailure, to_failure
from tests.unit.llm.wire import MESSAGE, MESSAGES, SYSTEM, TOOLS, Wire, raising, refusing, replying

AFTER_3 = {"retry-after": "3"}
AGAIN = {"x-should-retry": "true"}
NOT_AGAIN = {"x-should-retry": "false"}
K = FailureKind


async def failure_of(wire: Wire) -> ModelFailure:
    """Ask once over this wire and return how it failed."""
    with pytest.raises(ModelFailure) as caught:
        await wire.client().ask(SYSTEM, TOOLS, MESSAGES)
    assert len(wire.requests) == 1
    return caught.value


def spend(status: int, code: str) -> Wire:
    """A cap that names itself by code."""
    return refusing(status, type_="rate_limit_error", code=code, headers=AFTER_3)


ROWS: list[tuple[str, Wire, FailureKind, bool]] = [
    ("timeout", raising(httpx2.ReadTimeout("t")), K.UNREACHABLE, True),
    ("connection", raising(httpx2.ConnectError("c")), K.UNREACHABLE, True),
    ("drop", raising(httpx2.RemoteProtocolError("d")), K.UNREACHABLE, True),
    ("408", refusing(408), K.OVERLOADED, True),
    ("409", refusing(409), K.OVERLOADED, True),
    ("500", refusing(500), K.OVERLOADED, True),
    ("502", refusing(502), K.OVERLOADED, True),
    ("503", refusing(503), K.OVERLOADED, True),
    ("504", refusing(504), K.OVERLOADED, True),
    ("529", refusing(529, type_="overloaded_error"), K.OVERLOADED, True),
    ("429", refusing(429, headers=AFTER_3), K.RATE_LIMITED, True),
    ("429 silent", refusing(429), K.RATE_LIMITED, True),
    ("429 ramp", refusing(429, code="ramp_limit_exceeded"), K.RATE_LIMITED, True),
    ("429 enforced", spend(429, "enforced_spend_limit_reached"), K.BUDGET, False),
    ("429 contract", spend(429, "contract_spend_limit_reached"), K.BUDGET, False),
    ("401", refusing(401), K.CONFIG, False),
    ("402", refusing(402), K.CONFIG, False),
    ("403", refusing(403), K.CONFIG, False),
    ("404", refusing(404), K.CONFIG, False),
    ("400", refusing(400), K.BAD_REQUEST, False),
    ("413", refusing(413), K.BAD_REQUEST, False),
    ("422", refusing(422), K.BAD_REQUEST, False),
    ("418", refusing(418), K.BAD_REQUEST, False),
    ("400 type", refusing(400, type_="billing_error"), K.BUDGET, False),
    ("400 words", refusing(400, message="Workspace spend limit reached"), K.BUDGET, False),
    ("400 usage", refusing(400, message="your specified API usage limits."), K.BUDGET, False),
    ("html", Wire(lambda _: httpx2.Response(200, html="<p>hi</p>")), K.GARBLED, True),
    (
        "html as json",
        Wire(
            lambda _: httpx2.Response(
                200, content=b"<p>", headers={"content-type": "application/json"}
            )
        ),
        K.GARBLED,
        True,
    ),
    ("empty json", replying({}), K.GARBLED, True),
    ("json list", Wire(lambda _: httpx2.Response(200, json=[1])), K.GARBLED, True),
    ("no stop", replying({**MESSAGE, "stop_reason": None}), K.GARBLED, True),
    ("no content", replying({**MESSAGE, "content": None}), K.GARBLED, True),
    ("529 do not", refusing(529, headers=NOT_AGAIN), K.OVERLOADED, False),
    ("429 do not", refusing(429, headers=NOT_AGAIN), K.RATE_LIMITED, False),
    ("418 do", refusing(418, headers=AGAIN), K.BAD_REQUEST, True),
    *(
        (f"{status} do", refusing(status, headers=AGAIN), kind, False)
        for status, kind in [
            *((status, K.BAD_REQUEST) for status in (400, 413, 422)),
            *((status, K.CONFIG) for status in (401, 402, 403, 404)),
        ]
    ),
    (
        "spend do",
        refusing(429, code="enforced_spend_limit_reached", headers=AGAIN),
        K.BUDGET,
        False,
    ),
    ("proxy html", Wire(lambda _: httpx2.Response(502, html="<p>")), K.OVERLOADED, True),
]


@pytest.mark.parametrize(
    ("wire", "kind", "retryable"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
async def test_each_failure_has_its_kind_and_says_whether_to_try_again(
    wire: Wire, kind: FailureKind, retryable: bool
) -> None:
    """The table of facts §6.4, with exactly one HTTP call and a text free of what was sent."""
    failure = await failure_of(wire)
    assert (failure.kind, failure.retryable) == (kind, retryable)
    assert str(failure).startswith(kind.value)
    assert "Maria" not in str(failure)
    assert failure.__cause__ is None
    assert failure.__context__ is None or failure.__suppress_context__
    if not retryable:
        assert failure.retry_after is None


@pytest.mark.parametrize(
    ("status", "headers", "low", "high"),
    [
        (429, {"retry-after": "3"}, 3, 5),
        (429, {"retry-after": "60"}, 60, 60),
        (429, {"retry-after": "86400"}, 60, 60),
        (429, {"retry-after-ms": "1500", "retry-after": "9"}, 1.5, 3.5),
        (529, {"retry-after": "3"}, 3, 3),
        (503, {"retry-after": "60"}, 60, 60),
    ],
)
async def test_a_wish_to_wait_is_honoured_up_to_a_minute(
    status: int, headers: dict[str, str], low: float, high: float
) -> None:
    """Seconds as asked; a rate limit's are spread by up to two, and none is above 60."""
    retry_after = (await failure_of(refusing(status, headers=headers))).retry_after
    assert retry_after is not None
    assert low <= retry_after <= high


@pytest.mark.parametrize(
    ("status", "value"),
    [(529, "61"), (529, "0"), (529, "-1"), (429, "nan"), (429, "inf"), (429, "Mon, 30 Nov 2026")],
)
async def test_a_wish_that_cannot_be_followed_leaves_the_policys_own_pause(
    status: int, value: str
) -> None:
    """Overload with more than a minute, dates and nonsense: no delay of our own."""
    failure = await failure_of(refusing(status, headers={"retry-after": value}))
    assert failure.retryable
    assert failure.retry_after is None


@pytest.mark.parametrize(
    "message",
    [
        "messages.2: `tool_use` ids were found without `tool_result` blocks: toolu_1",
        "messages.2: tool_use ids were found without tool_result blocks: toolu_1",
        "unexpected `tool_use_id` found in `tool_result` blocks",
        "messages: `tool_use` ids must be unique",
        "thinking block is bound to a different conversation",
        "text content blocks must be non-empty",
    ],
)
async def test_a_broken_history_rule_asks_for_one_repair(message: str) -> None:
    """Such a 400 is not retried as it is, but after a repair it may be."""
    failure = await failure_of(refusing(400, type_="invalid_request_error", message=message))
    assert failure.repairable
    assert not failure.retryable
    assert "toolu_1" not in str(failure)


@pytest.mark.parametrize(
    "rule", ["role 'system' is not supported", "conversation must end with a user message"]
)
async def test_a_rule_that_no_repair_mends_is_named_for_the_operator(rule: str) -> None:
    """The text says which rule it was, and nobody repairs in vain."""
    failure = await failure_of(refusing(400, message=f"messages.3: The {rule} on this model."))
    assert not failure.repairable
    assert rule in str(failure)


async def test_other_bad_requests_are_not_repairable_and_keep_the_request_id() -> None:
    """The provider's words stay out, since they may quote the conversation; its id is kept."""
    failure = await failure_of(refusing(400, message="oi, sou a Maria is invalid"))
    assert not failure.repairable
    assert failure.request_id == "req_9"


async def test_a_client_without_key_is_a_matter_of_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The SDK builds without a key and only the first call raises, a bare TypeError."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")
    wire = replying(MESSAGE)
    http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(wire))
    sdk = anthropic.AsyncAnthropic(base_url="http://claude.test", http_client=http_client)
    with pytest.raises(ModelFailure) as caught:
        await ClaudeClient(sdk).ask(SYSTEM, TOOLS, MESSAGES)
    assert (caught.value.kind, caught.value.retryable) == (K.CONFIG, False)
    assert wire.requests == []


@pytest.mark.parametrize("error", [TypeError("an int is no str"), KeyError("x"), RuntimeError()])
async def test_a_bug_is_not_dressed_up_as_a_failure_of_the_model(error: Exception) -> None:
    """What is not about the call passes as it is, for the programmer."""
    assert to_failure(error) is None

    class _Messages:
        async def create(self, **_: Any) -> None:
            raise error

    sdk = anthropic.AsyncAnthropic(api_key="key")
    sdk.__dict__["messages"] = _Messages()
    with pytest.raises(type(error)) as caught:
        await ClaudeClient(sdk).ask(SYSTEM, TOOLS, MESSAGES)
    assert caught.value is error
