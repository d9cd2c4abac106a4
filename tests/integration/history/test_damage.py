"""A history that somebody damaged, and one that has grown long: what the model is asked stays legal
and true, and the cached prefix stands still."""

import json
import uuid
from itertools import pairwise
from typing import Any

import pytest

from activities.messages import ConversationRef, Route, StepRef
from activities.take import Take
from activities.think import MOST_ENTRIES, Think
from domain.history import Entry
from llm.invariants import violations
from llm.models import capability_of
from llm.render import render
from llm.trim import trim
from store import history
from tests.integration.history.conftest import by_hand
from tests.integration.history.machine import HistoryMachine
from tests.integration.history.machine_base import HistoryBench
from tests.integration.history.open_turn import Wish
from tests.unit.llm.builders import flat

DAMAGE = {
    "results": "DELETE FROM history WHERE slot LIKE '%:results'",
    "calls": "DELETE FROM history WHERE slot LIKE '%:calls'",
    "inputs": "DELETE FROM history WHERE slot LIKE '%:input' AND position < 10",
    "the beginning": "DELETE FROM history WHERE position < 2",
    "a call twice": (
        "WITH c AS (UPDATE conversations SET next_position = next_position + 1"
        "   RETURNING next_position - 1 AS at)"
        " INSERT INTO history (conversation_id, slot, kind, turn_id, content, position)"
        " SELECT conversation_id, 'again', kind, turn_id, content, c.at FROM history, c"
        " WHERE slot LIKE '%:calls' LIMIT 1"
    ),
}


def _three_charges(machine: HistoryMachine) -> dict[str, tuple[str, str]]:
    """Three charges, each in another state; by call id the action and its status."""
    for what in ("x", "y", "z"):
        for kind in ("reply", "charge", "reply", "reply"):
            machine.work([Wish(kind, what=what)])
        if what != "z":
            machine.click_and_decide(0, "cancel" if what == "x" else "confirm")
        machine.say("plain")
    calls = [item[1] for item in machine.happened.placed if item[0] == "call"]
    return dict(zip(calls, machine.ledger.statuses.items(), strict=True))


def _asked(bench: HistoryBench, conversation: uuid.UUID) -> list[dict[str, Any]]:
    """The messages of the next call, which the far side accepts."""
    bench.claude.refused.clear()
    bench.claude.says = ("end_turn", [{"type": "text", "text": "Oi"}])
    taken = bench.run(Take(bench.deps).run(ConversationRef(conversation_id=conversation)))
    assert taken.turn_id is not None
    thought = bench.run(Think(bench.deps).run(StepRef(turn_id=taken.turn_id, step=0)))
    assert thought.route is Route.REPLY
    assert bench.claude.refused == []
    messages: list[dict[str, Any]] = bench.claude.asked[-1]["messages"]
    return messages


def _results(messages: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    blocks = [block for message in messages for block in message["content"]]
    return {
        block["tool_use_id"]: json.loads(block["content"])
        for block in blocks
        if block["type"] == "tool_result"
    }


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_history_is_asked_with_all_the_same(bench: HistoryBench, what: str) -> None:
    """Whatever was lost or doubled, the far side's rules find nothing in the next call."""
    with by_hand(bench) as machine:
        _three_charges(machine)
        bench.run(machine.db.execute(DAMAGE[what]))
        _asked(bench, machine.conversation)


def test_a_lost_result_is_told_by_the_ledgers_truth(bench: HistoryBench) -> None:
    """Three charges of one tool, cancelled, under way and pending, and all results lost: each call
    is told its own action and status, not the newest one's."""
    with by_hand(bench) as machine:
        expected = _three_charges(machine)
        assert [status for _, status in expected.values()] == ["cancelled", "executing", "pending"]
        bench.run(machine.db.execute(DAMAGE["results"]))
        told = _results(_asked(bench, machine.conversation))
    assert told == {
        call: {"result_lost": True, "action_id": action, "status": status}
        for call, (action, status) in expected.items()
    }


def test_a_lost_result_without_an_action_claims_nothing(bench: HistoryBench) -> None:
    """The second call of an answer was never proposed, and a read led to nothing: their results say
    no more than that they are lost."""
    with by_hand(bench) as machine:
        for kind in ("reply", "two charges", "reply", "reply"):
            machine.work([Wish(kind)])
        machine.say("plain")
        for kind in ("reply", "read", "reply", "reply", "reply", "reply"):
            machine.work([Wish(kind)])
        machine.say("plain")
        calls = [item[1] for item in machine.happened.placed if item[0] == "call"]
        bench.run(machine.db.execute(DAMAGE["results"]))
        told = _results(_asked(bench, machine.conversation))
        (action,) = machine.ledger.actions
    assert told[calls[0]]["action_id"] == action
    assert [told[call] for call in calls[1:]] == [{"result_lost": True}] * 2


def test_a_long_conversation_keeps_its_prefix(bench: HistoryBench) -> None:
    """Over a thousand short entries: each call begins at a person's words and is legal as it is,
    and its beginning moves at most once in half of what is read, so that the cache lives."""
    capability = capability_of("claude-haiku-5-5")
    starts, prefixes = [], []
    with by_hand(bench) as machine:
        bench.run(machine.db.execute("DELETE FROM history"))
        for count in range(MOST_ENTRIES - 40, 2 * MOST_ENTRIES, 20):
            bench.run(machine.db.execute(_GROW, machine.conversation, count))
            rows = bench.run(history.read(machine.db, machine.conversation, limit=MOST_ENTRIES))
            assert MOST_ENTRIES // 2 <= len(rows) <= MOST_ENTRIES
            kept = trim([Entry.model_validate(row) for row in rows])
            messages = render(kept, facts="", now_local="now", capability=capability)
            assert violations(messages) == []
            assert str(messages[0]["content"][0]["text"]).startswith("<mensagem_da_pessoa")
            starts.append(kept[0].position)
            prefixes.append(flat(messages))
    moves = sum(before != after for before, after in pairwise(starts))
    assert moves == 2, starts
    for n, (before, after) in enumerate(pairwise(prefixes)):
        assert starts[n] != starts[n + 1] or after[: len(before)] == before


_GROW = """
WITH grown AS (
    INSERT INTO history (conversation_id, slot, kind, content, position)
    SELECT $1, 'n' || n,
        (array['user_text', 'assistant_blocks', 'tool_results', 'sent_text'])[n % 4 + 1],
        CASE n % 4
        WHEN 0 THEN jsonb_build_object('lines', jsonb_build_array(jsonb_build_object(
            'text', 'm' || n, 'at', '2026-03-11T12:00:00-03:00')))
        WHEN 1 THEN jsonb_build_object('blocks', jsonb_build_array(jsonb_build_object(
            'type', 'tool_use', 'id', 't' || n, 'name', 'see_notes', 'input', '{}'::jsonb)))
        WHEN 2 THEN jsonb_build_object('results', jsonb_build_array(jsonb_build_object(
            'tool_use_id', 't' || (n - 1), 'content', n)))
        ELSE jsonb_build_object('text', 's' || n) END, n
    FROM generate_series(0, $2::int) n ON CONFLICT DO NOTHING)
UPDATE conversations SET next_position = $2 + 1 WHERE id = $1
"""
