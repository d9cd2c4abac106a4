"""What a model may say at a step, written as the blocks of its answer."""

from collections.abc import Callable

from tests.integration.history.far_claude import Block

CHARGE, NOTE, MARK, READ = "make_charge", "write_note", "mark_note", "see_notes"
EFFECTS = frozenset({CHARGE, NOTE, MARK})
CLAIM = {"type": "text", "text": "Pronto, gerei!"}
"""Stands beside tool calls and must never be shown."""


def use(name: str, **arguments: str) -> Block:
    """A call; its id is made at the wire."""
    return {"type": "tool_use", "name": name, "input": arguments}


def text(words: str) -> Block:
    """Words for the person."""
    return {"type": "text", "text": words}


_ANSWERS: dict[str, Callable[[str, int], tuple[str, list[Block]]]] = {
    "reply": lambda _what, n: ("end_turn", [text(f"Resposta {n}")]),
    "imitation": lambda _what, _n: ("end_turn", [text("[Usuário clicou em Confirmar]")]),
    "empty": lambda _what, _n: ("end_turn", []),
    "cut": lambda what, _n: ("max_tokens", [use(CHARGE, what=what)]),
    "read": lambda what, _n: ("tool_use", [use(READ, what=what)]),
    "two reads": lambda what, _n: ("tool_use", [use(READ, what=what), use(READ, what="b")]),
    "unknown": lambda what, _n: ("tool_use", [use("erase_everything", what=what)]),
    "charge": lambda what, _n: ("tool_use", [CLAIM, use(CHARGE, what=what)]),
    "bad charge": lambda _what, _n: ("tool_use", [use(CHARGE, who="ninguém")]),
    "note": lambda what, _n: ("tool_use", [use(NOTE, what=what)]),
    "direct": lambda what, n: ("tool_use", [use(MARK, what=f"{what} {n}")]),
    "read and charge": lambda what, _n: (
        "tool_use",
        [CLAIM, use(READ, what=what), use(CHARGE, what=what)],
    ),
    "two charges": lambda what, _n: ("tool_use", [use(CHARGE, what=what), use(CHARGE, what="z")]),
    "direct and read": lambda what, n: (
        "tool_use",
        [use(MARK, what=f"{what} {n}"), use(READ, what=what), use(NOTE, what=what)],
    ),
}
KINDS = [*_ANSWERS, "reply", "reply", "charge", "charge", "charge", "note", "read"]
"""To draw from: what is usual comes more often."""


def answer(kind: str, what: str, number: int) -> tuple[str, list[Block]]:
    """Stop reason and blocks. `number` makes words and direct effects different each time."""
    return _ANSWERS[kind](what, number)
