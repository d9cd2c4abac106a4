"""Keys that a retry, a reset or a second worker finds again."""

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import ids

FIRST_ITEM = uuid.UUID("00000000-0000-4000-8000-000000000001")


def test_the_keys_of_today_are_the_keys_of_tomorrow() -> None:
    """Frozen values: a change of the derivation would give a retried turn another action, and the
    provider another key, in the middle of a deployment."""
    turn = ids.turn_id(FIRST_ITEM)
    assert str(turn) == "e115be6d-6abb-5ce5-8e70-29d924005b70"
    assert ids.action_id(turn) == "adfe5ac80415591ba4a152e90faee99a"
    assert (
        ids.direct_action_id(turn, tool="create_booking", payload_hash="0" * 64)
        == "9aec40c063a05f69ae0d950328343096"
    )


@given(st.uuids())
def test_a_key_has_the_one_form_that_fits_every_provider(item: uuid.UUID) -> None:
    """32 lower-case hex; and the same again when asked again."""
    turn = ids.turn_id(item)
    for key in (ids.action_id(turn), ids.direct_action_id(turn, tool="t", payload_hash="p")):
        assert re.fullmatch("[0-9a-f]{32}", key)
        assert ids.is_key(key)
    assert ids.turn_id(item) == turn
    assert ids.action_id(turn) == ids.action_id(turn)


@given(st.lists(st.uuids(), min_size=2, max_size=2, unique=True))
def test_another_message_has_another_key(items: list[uuid.UUID]) -> None:
    """Two turns never share an action; neither does an action and the turn or item it came from."""
    turns = [ids.turn_id(item) for item in items]
    actions = [ids.action_id(turn) for turn in turns]
    every = [one.hex for one in (*items, *turns)] + actions
    assert len(set(every)) == len(every)


def test_direct_actions_of_a_turn_differ_by_tool_and_payload() -> None:
    """A turn may run several, each once; none of them is the proposal's."""
    turn = ids.turn_id(FIRST_ITEM)
    keys = [
        ids.action_id(turn),
        ids.direct_action_id(turn, tool="a", payload_hash="x"),
        ids.direct_action_id(turn, tool="a", payload_hash="y"),
        ids.direct_action_id(turn, tool="b", payload_hash="x"),
    ]
    assert len(set(keys)) == len(keys)


def test_workflow_ids_say_what_they_run() -> None:
    """Action id = workflow id = provider key, with the kind before it; nothing personal in it."""
    assert ids.action_workflow_id("a" * 32) == "action:" + "a" * 32
    assert ids.turn_workflow_id(FIRST_ITEM) == f"turn:{FIRST_ITEM}"


@pytest.mark.parametrize(
    "text",
    ["", "a" * 31, "a" * 33, "A" * 32, "g" * 32, "a" * 32 + "\n", "\n" + "a" * 32, "٠" * 32,
     str(FIRST_ITEM), " " + "a" * 31],
)  # fmt: skip
def test_what_is_not_exactly_a_key_is_none(text: str) -> None:
    """Other case, other length, dashes, other digits, a trailing newline."""
    assert not ids.is_key(text)
