"""Every rule of the API has its violation, and a broken history is put right."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm.invariants import Rule, violations
from llm.render import Message
from llm.repair import repair

USE = {"type": "tool_use", "id": "t1", "name": "get_balance", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "1"}
TEXT = {"type": "text", "text": "oi"}


def user(*blocks: dict[str, Any]) -> Message:
    """A user message."""
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: dict[str, Any]) -> Message:
    """An assistant message."""
    return {"role": "assistant", "content": list(blocks)}


SYSTEM: Message = {"role": "system", "content": [TEXT]}
ASKED = user(TEXT)
BROKEN: list[tuple[list[Message], Rule]] = [
    ([assistant(TEXT), ASKED], Rule.FIRST_NOT_USER),
    ([ASKED, assistant(TEXT), user(TEXT), user(TEXT)], Rule.NOT_MERGED),
    ([user()], Rule.NO_CONTENT),
    ([user({"type": "text", "text": " \n"}, TEXT)], Rule.BLANK_TEXT),
    ([{"role": "user", "content": ""}, ASKED], Rule.BLANK_TEXT),
    ([ASKED, assistant(USE), ASKED], Rule.ORPHAN_TOOL_USE),
    ([ASKED, assistant(USE), SYSTEM, user(RESULT)], Rule.ORPHAN_TOOL_USE),
    ([ASKED, assistant(USE), assistant(TEXT), user(RESULT)], Rule.ORPHAN_TOOL_USE),
    ([ASKED, assistant(TEXT), user(RESULT)], Rule.ORPHAN_RESULT),
    ([user(RESULT)], Rule.ORPHAN_RESULT),
    ([ASKED, assistant(USE), user(RESULT, RESULT)], Rule.DUPLICATE_RESULT),
    ([ASKED, assistant(USE, USE), user(RESULT)], Rule.DUPLICATE_TOOL_USE),
    (
        [ASKED, assistant(USE), user(RESULT), assistant(USE), user(RESULT)],
        Rule.DUPLICATE_TOOL_USE,
    ),
    ([ASKED, assistant(USE), user(TEXT, RESULT)], Rule.RESULT_NOT_FIRST),
    ([user(TEXT, USE)], Rule.MISPLACED_BLOCK),
    ([ASKED, assistant(TEXT, RESULT), ASKED], Rule.MISPLACED_BLOCK),
    ([SYSTEM, ASKED], Rule.SYSTEM_PLACEMENT),
    ([ASKED, SYSTEM, ASKED], Rule.SYSTEM_PLACEMENT),
    ([ASKED, assistant(TEXT), SYSTEM], Rule.SYSTEM_PLACEMENT),
    ([ASKED, {"role": "system", "content": [RESULT]}], Rule.SYSTEM_PLACEMENT),
]


def truth(tool_use_id: str, name: str) -> str:
    """What a ledger would say."""
    return f"{name} {tool_use_id}: the ledger's word"


@pytest.mark.parametrize(("messages", "rule"), BROKEN)
def test_every_broken_rule_is_named_and_repaired(messages: list[Message], rule: Rule) -> None:
    """The checker names the rule; after repair nothing is left of it."""
    assert rule in {violation.rule for violation in violations(messages)}
    repaired = repair([*messages, assistant(TEXT), ASKED], truth=truth)
    assert rule in {violation.rule for violation in repaired.found}
    assert repaired.left == ()
    assert violations(repaired.messages) == []


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([], Rule.EMPTY),
        ([ASKED, assistant(TEXT)], Rule.LAST_IS_ASSISTANT),
        ([ASKED, {"role": "tool", "content": [TEXT]}], Rule.ROLE),
        ([user({"type": "text", "text": "á" * (16 * 1024 * 1024)})], Rule.TOO_LARGE),
    ],
)
def test_what_repair_cannot_help_is_said(messages: list[Message], rule: Rule) -> None:
    """Nothing is sent in the hope that it will do: what is left is named."""
    assert rule in {violation.rule for violation in violations(messages)}
    assert rule in {violation.rule for violation in repair(messages, truth=truth).left}


def test_good_messages_are_left_alone() -> None:
    """A conversation that breaks no rule is sent as it is."""
    messages = [ASKED, assistant(TEXT, USE), user(RESULT, TEXT), SYSTEM]
    repaired = repair(messages, truth=truth)
    assert repaired.messages == messages
    assert repaired.found == repaired.left == ()


def test_an_unanswered_call_gets_the_ledgers_word() -> None:
    """It is an error result with what the caller knows, first in the very next message."""
    repaired = repair([ASKED, assistant(USE), user(TEXT)], truth=truth)
    made = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": "get_balance t1: the ledger's word",
        "is_error": True,
    }
    assert repaired.messages == [ASKED, assistant(USE), user(made, TEXT)]
    assert [violation.rule for violation in repaired.found] == [Rule.ORPHAN_TOOL_USE]
    ends_open = repair([ASKED, assistant(USE)], truth=truth)
    assert ends_open.messages == [ASKED, assistant(USE), user(made)]


def test_a_result_that_exists_is_kept_where_text_came_before_it() -> None:
    """The order within the message is put right; the result itself is not replaced."""
    repaired = repair([ASKED, assistant(USE), user(TEXT), user(RESULT)], truth=truth)
    assert repaired.messages == [ASKED, assistant(USE), user(RESULT, TEXT)]


def test_a_repeated_id_keeps_both_pairs() -> None:
    """Two rounds under one id: the later pair is renamed, so that no result is lost."""
    second = {**RESULT, "content": "2"}
    messages = [ASKED, assistant(USE), user(RESULT), assistant(USE), user(second)]
    repaired = repair(messages, truth=truth)
    assert repaired.left == ()
    assert repaired.messages[3]["content"][0]["id"] == "t1_2"
    assert repaired.messages[4]["content"] == [{**second, "tool_use_id": "t1_2"}]


def test_a_call_given_twice_in_one_message_is_one_call() -> None:
    """A gateway that doubles a block (hindsight#4250) makes no second, unanswered call."""
    repaired = repair([ASKED, assistant(USE, USE), user(RESULT, RESULT)], truth=truth)
    assert repaired.messages == [ASKED, assistant(USE), user(RESULT)]


BLOCKS = st.sampled_from(
    [
        TEXT,
        {"type": "text", "text": " "},
        *({**USE, "id": id_} for id_ in ("t1", "t2")),
        *({**RESULT, "tool_use_id": id_} for id_ in ("t1", "t2")),
    ]
)
MESSAGES = st.builds(
    lambda role, blocks: {"role": role, "content": blocks},
    st.sampled_from(["user", "assistant", "system"]),
    st.lists(BLOCKS, max_size=4),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(MESSAGES, max_size=8))
def test_any_history_is_repaired(messages: list[Message]) -> None:
    """Whatever is stored: no wedge, the input unchanged, a second repair finds nothing to do."""
    before = repr(messages)
    repaired = repair([*messages, ASKED], truth=truth)
    assert repaired.left == ()
    assert repr(messages) == before
    assert repair(repaired.messages, truth=truth).found == ()
