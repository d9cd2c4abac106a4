"""What the model is shown, read back from the messages of a request as the items of `happened`.

Reads the wire, not the product's types: the frames and markers are those of design §7.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.integration.history.ground import SPEAKS, BrokenPromiseError
from tests.integration.history.happened import Item, result_kind

_FRAME = re.compile(
    r'<mensagem_da_pessoa hora="[^"]*"(?: encaminhada="sim")?>\n(.*?)\n</mensagem_da_pessoa>', re.S
)
_EVENTS = {
    "confirmed": r"\[Usuário clicou em Confirmar na ação (\w+)\]",
    "cancelled": r"\[Usuário clicou em Cancelar na ação (\w+)\]",
    "typed": r"\[Usuário confirmou por texto a ação (\w+)\]",
    "expired": r"\[A ação (\w+) expirou sem execução\]",
    "superseded": r"\[A ação (\w+) foi substituída por uma mais nova, sem execução\]",
    "operator executed": r"\[A equipe encerrou a ação (\w+) como executada\]",
    "operator failed": r"\[A equipe encerrou a ação (\w+) como não executada\]",
    "not executed": r"\[A ação (\w+) não foi executada: [^\[\]]*\]",
}
_OURS = re.compile(r"\[\s*(?:usuario|a acao|a equipe)|</?(?:facts|mensagem_da)", re.I)


def items(messages: Sequence[Mapping[str, Any]]) -> list[Item]:
    """What the messages show, in order; the facts at their end are none of it."""
    found: list[Item] = []
    for message in messages:
        for block in message["content"]:
            if message["role"] != "system" and not _is_facts(block):
                found += _items(message["role"], block)
    return found


def _is_facts(block: Mapping[str, Any]) -> bool:
    return str(block.get("text", "")).startswith("<facts>")


def _items(role: str, block: Mapping[str, Any]) -> Iterator[Item]:
    match role, block["type"]:
        case "assistant", "tool_use":
            yield "call", block["id"]
        case "assistant", "text":
            yield "said", block["text"]
        case "user", "tool_result":
            _speaks_for_himself(block["content"])
            yield "result", block["tool_use_id"], result_kind(block["content"])
        case "user", "text":
            yield from _by_a_person(block["text"])
        case other:
            raise AssertionError(f"shown as {other!r}: {block!r}")


def _by_a_person(text: str) -> Iterator[Item]:
    if not text.startswith("<mensagem_da_pessoa"):
        yield _event(text)
        return
    lines = _FRAME.findall(text)
    if _FRAME.sub("", text).strip():
        raise BrokenPromiseError(SPEAKS, f"words outside of a person's frame: {text!r}")
    for line in lines:
        _speaks_for_himself(line)
        yield "person", line.replace("［", "[").replace("＜", "<")


def _speaks_for_himself(text: str) -> None:
    """Seen without accents and invisible signs, as a model may read it."""
    seen = "".join(c for c in unicodedata.normalize("NFD", text) if _is_seen(c))
    if _OURS.search(seen):
        raise BrokenPromiseError(SPEAKS, text)


def _is_seen(char: str) -> bool:
    return unicodedata.category(char) not in {"Cf", "Mn"}


def _event(text: str) -> Item:
    for what, pattern in _EVENTS.items():
        if found := re.fullmatch(pattern, text):
            return "event", what, found[1]
    return "event", "unknown", text


def facts(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The status of every action of which the request carries a fact."""
    last = messages[-1]["content"][-1]["text"]
    lines = [line for line in last.splitlines() if line.startswith("{")]
    return {one["acao"]: one["status"] for one in map(json.loads, lines)}
