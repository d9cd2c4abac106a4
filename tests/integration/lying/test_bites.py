"""That these tests bite: with one guard taken out of the product, a promise is seen broken at the
far side within a few hundred sequences."""

import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from activities import calls
from activities.propose import policy
from domain import deciding
from domain.deciding import Judgement, PendingFacts, StoredDecision
from domain.errors import ToolInputError
from domain.outcomes import GatewayResult, Outcome
from gateways import pagarme_requests
from llm import answers
from llm.answers import ModelAnswer, Reply, Step, ToolCall
from store.actions import Action
from store.connection import Connection
from store.customers import Customer
from store.turns import Turn
from tests.harness.databases import Databases
from tests.integration.lying import judge, prompts, zoo
from tests.integration.lying.bench import Bench, nothing_shown, running_bench
from tests.integration.lying.drawing import hunt
from tests.integration.lying.events import Focus
from tests.integration.lying.records import BrokenPromiseError
from tests.integration.lying.reporting import Report
from tools.contract import Confirm, EffectTool, ReadTool
from tools.registry import Registry, UnknownToolError


def test_calls_that_the_model_did_not_stop_for_are_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a call under `end_turn` counts, a prompt is shown that nobody asked for."""
    reply = answers._reply

    def any_call(answer: ModelAnswer) -> Step:
        found = answers._blocks(answer, "tool_use")
        return answers._tool_calls(answer, tools_allowed=True) if found else reply(answer)

    monkeypatch.setattr(answers, "_reply", any_call)
    without, focus = "the look at the stop reason (end_turn)", Focus(lies=tuple(zoo.SHAPES))
    assert hunt(bench, report, without, "fresh", focus=focus) == judge.COUNTS


def test_cut_calls_are_found(bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a call under `max_tokens` counts, a cut amount is shown."""

    def any_call(answer: ModelAnswer) -> Step:
        return answers._tool_calls(answer, tools_allowed=True)

    monkeypatch.setattr(answers, "_truncated", any_call)
    without, focus = "the look at the stop reason (max_tokens)", Focus(lies=tuple(zoo.SHAPES))
    assert hunt(bench, report, without, "fresh", focus=focus) == judge.COUNTS


def test_calls_that_were_not_allowed_are_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a call of the last step counts, which allows none, it is proposed."""
    tool_calls = answers._tool_calls

    def always_allowed(answer: ModelAnswer, *, tools_allowed: bool) -> Step:
        return tool_calls(answer, tools_allowed=True)

    monkeypatch.setattr(answers, "_tool_calls", always_allowed)
    without = "the refusal of calls at the last step"
    assert hunt(bench, report, without, "fresh") == judge.COUNTS


def test_text_beside_a_call_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an answer with a text is a reply, whatever stands beside it, the person reads that it
    is done."""
    tool_calls = answers._tool_calls

    def text_first(answer: ModelAnswer, *, tools_allowed: bool) -> Step:
        said = answers._text(answer)
        return Reply(text=said) if said else tool_calls(answer, tools_allowed=tools_allowed)

    monkeypatch.setattr(answers, "_tool_calls", text_first)
    without = "the silence of texts beside calls"
    focus = Focus(lies=("text beside", "cut after a text"))
    assert hunt(bench, report, without, "fresh", focus=focus) == judge.BESIDE


def test_a_tool_that_was_not_offered_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a call is not held against the person's role, a customer is asked about the business's
    money, or its balance is told to him."""

    def whatever_there_is(
        registry: Registry, _turn: Turn, call: ToolCall
    ) -> ReadTool[Any] | EffectTool[Any]:
        try:
            return registry.get(call.name)
        except UnknownToolError:
            raise ToolInputError("no such tool") from None

    monkeypatch.setattr(calls, "offered_tool", whatever_there_is)
    without = "the role's tools"
    found = hunt(bench, report, without, "booking shown")
    assert found in {judge.COUNTS, judge.OTHERS}


def test_a_payload_that_changed_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the digest is not recomputed, something else is executed than was shown."""
    monkeypatch.setattr(Action, "recomputed_digest", lambda self: self.digest)
    focus = Focus({"rots": 9, "asks": 1, "passes": 0})
    found = hunt(bench, report, "the digest", "charge shown", "confirmed", focus=focus)
    assert found == judge.SAME


def test_a_request_that_says_something_else_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where what is rendered is not what is summarised, digests agree, and the amounts do not."""
    render = pagarme_requests.render_charge

    def a_cent_more(*, amount_cents: int, **given: Any) -> Any:
        return render(amount_cents=amount_cents + 1, **given)

    monkeypatch.setattr(pagarme_requests, "render_charge", a_cent_more)
    without = "one payload for summary and request"
    focus = Focus({"passes": 0}, lies=("charge", "charge described"))
    assert hunt(bench, report, without, "fresh", focus=focus) == judge.SAME


def test_a_wrong_persons_click_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where anybody may press, an effect has no decision of the one who was asked."""
    monkeypatch.setattr(deciding, "is_right_person", lambda *_given, **_named: True)
    found = hunt(bench, report, "the right person", "charge shown", "both shown")
    assert found in {judge.DECIDED, judge.CANCELLED}


def test_a_press_under_another_message_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it does not matter under which message a press was made, it counts before the prompt
    was sent."""
    monkeypatch.setattr(deciding, "is_right", deciding.is_right_person)
    found = hunt(bench, report, "the message that was pressed", "proposed")
    assert found == judge.DECIDED


def test_a_press_after_the_deadline_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the deadline is not looked at, a world of long ago is executed."""

    def for_ever(facts: PendingFacts, decisions: list[StoredDecision]) -> Judgement:
        later = dataclasses.replace(facts, expires_at=facts.expires_at + timedelta(days=365))
        return deciding.judge(later, decisions)

    monkeypatch.setattr("store.deciding.judge", for_ever)
    focus = Focus({"passes": 9, "asks": 1})
    found = hunt(bench, report, "the deadline", "charge shown", "both shown", focus=focus)
    assert found == judge.DECIDED


def test_a_yes_with_two_readings_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where any exact yes decides what is pending, it may have meant something else."""
    monkeypatch.setattr("store.typed_yes.why_no_yes", lambda _facts: None)
    found = hunt(bench, report, "the readings of a yes", "both shown")
    assert found == judge.DECIDED


def test_a_payment_without_a_question_is_found(
    databases: Databases, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a deployment's wish for direct tools is followed for money too, and the table takes
    such a row, nobody is asked."""

    def as_wished(tool: EffectTool[Any], settings: dict[str, Any]) -> Confirm:
        wished = tool.name in settings.get("direct_tools", [])
        return Confirm.DIRECT if wished else policy(tool, settings)

    monkeypatch.setattr("activities.propose.policy", as_wished)
    monkeypatch.setattr("activities.think.typing", nothing_shown)
    check = "ALTER TABLE actions DROP CONSTRAINT actions_check1"
    with pytest.raises(BrokenPromiseError) as found, running_bench(databases, without=check):
        pytest.fail("the beginnings have charges already")
    report(f"without the question about money: {found.value.name!r} in the first charge")
    assert found.value.name == judge.DECIDED


def test_hidden_signs_in_a_prompt_are_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where values are not looked at for what does not show, a prompt reads another way round."""
    monkeypatch.setattr("domain.cleaning._HIDDEN", frozenset())
    focus = Focus(lies=tuple(zoo.NAMES))
    found = hunt(bench, report, "the look for hidden signs", "fresh", focus=focus)
    assert found in {prompts.FORM, judge.COUNTS}


def test_another_accounts_customer_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an id is looked up without its account, what is another's is shown or changed."""

    async def of_anybody(db: Connection, _account: str, customer: int) -> Customer | None:
        row = await db.fetchrow(
            "SELECT id, name, document, email, blocked FROM customers WHERE id = $1", customer
        )
        return Customer(**row) if row else None

    monkeypatch.setattr("store.customers.get", of_anybody)
    focus = Focus(lies=tuple(zoo.IDS))
    found = hunt(bench, report, "the account of an id", "fresh", focus=focus)
    assert found == judge.OTHERS


def test_a_success_that_is_not_one_is_found(
    bench: Bench, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the gateway claims what the provider never saw, a receipt tells of nothing."""

    async def claims(_self: object, key: str, *_given: object, **_named: object) -> GatewayResult:
        return GatewayResult(outcome=Outcome.CREATED, provider_ref=f"ch_{key[:8]}", reason="")

    monkeypatch.setattr("gateways.pagarme.PagarmeGateway.send", claims)
    found = hunt(bench, report, "the provider's own word", "charge shown")
    assert found == judge.RECEIPT
