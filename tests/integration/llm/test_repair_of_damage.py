"""Conversations as the store holds them, damaged at random: after repair the far side accepts them,
nobody's words are lost, and no result is made up where one exists or where the ledger was not
asked."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.history import Entry
from llm.models import capability_of
from llm.render import Message, render
from llm.repair import repair
from llm.trim import trim
from simulators.claude.history_rules import check_messages
from simulators.claude.models import MODELS
from tests.unit.llm.builders import history, said
from tests.unit.llm.test_render_properties import conversations

MODEL = "claude-haiku-5-5"
TRUTH = "the ledger's word"
Damage = st.lists(
    st.tuples(st.sampled_from(["lose", "double", "swap"]), st.integers(0, 40)),
    min_size=1,
    max_size=5,
)


def damaged(entries: list[Entry], damage: list[tuple[str, int]]) -> list[Message]:
    """The messages of a call, after entries were lost, doubled or changed places."""
    contents = [entry.content for entry in entries]
    for what, where in damage:
        at = where % len(contents)
        if what == "lose" and len(contents) > 1:
            del contents[at]
        elif what == "double":
            contents.insert(where % (len(contents) + 1), contents[at])
        elif at + 1 < len(contents):
            contents[at], contents[at + 1] = contents[at + 1], contents[at]
    return render(
        trim(history(*contents, said("e agora?"))),
        facts="f",
        now_local="now",
        capability=capability_of(MODEL),
    )


def blocks(messages: list[Message], kind: str, role: str) -> list[dict[str, Any]]:
    """All blocks of a kind that a role has, in order."""
    return [
        block
        for message in messages
        if message["role"] == role
        for block in message["content"]
        if block["type"] == kind
    ]


@settings(max_examples=300, deadline=None)
@given(conversations(), Damage)
def test_damage_is_repaired_with_the_ledgers_word_alone(
    entries: list[Entry], damage: list[tuple[str, int]]
) -> None:
    """Accepted; every call is answered; a result that stands is the stored one or the ledger's; the
    person's words and the events are all there, in order."""
    messages = damaged(entries, damage)
    asked: list[str] = []

    def truth(tool_use_id: str, _name: str) -> str:
        asked.append(tool_use_id)
        return TRUTH

    repaired = repair(messages, truth=truth)
    assert repaired.left == ()
    check_messages(repaired.messages, MODELS[MODEL])
    results = blocks(repaired.messages, "tool_result", "user")
    stored = [block["content"] for block in blocks(messages, "tool_result", "user")]
    assert [r["tool_use_id"] for r in results if r["content"] == TRUTH] == asked
    assert all(r["content"] in stored for r in results if r["content"] != TRUTH)
    assert all(r.get("is_error") for r in results if r["content"] == TRUTH)
    assert blocks(repaired.messages, "text", "user") == blocks(messages, "text", "user")


@settings(max_examples=100, deadline=None)
@given(conversations())
def test_a_sound_history_is_never_repaired(entries: list[Entry]) -> None:
    """Nothing is put right that is right: the ledger is not asked."""
    messages = render(
        [*entries, Entry.of(len(entries), said("e agora?"))],
        facts="f",
        now_local="now",
        capability=capability_of(MODEL),
    )
    repaired = repair(messages, truth=lambda *_: "never")
    assert (repaired.messages, repaired.found) == (messages, ())
