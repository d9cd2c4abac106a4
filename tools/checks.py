"""What a tool must fulfil before it is registered; a broken promise stops the start.

The trap: a tool that forgot its risk, or one named `confirm_action`, works well in a demo and hands
the decision to the model. So nothing is defaulted here and nothing is repaired: ToolContractError
names the tool and the rule (design §4).
"""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from domain.errors import ToolContractError
from domain.people import Role
from tools.contract import Confirm, DatabaseTool, EffectTool, ProviderTool, ReadTool, Risk
from tools.schema import SchemaError, tool_schema

NAME_PATTERN = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", re.ASCII)
MAX_NAME_CHARS = 64
MIN_DESCRIPTION_CHARS = 60
MIN_DESCRIPTION_SENTENCES = 3
"""The model's vendor advises three sentences or more (facts/claude.md §2.1)."""

MAX_TIMEOUT = timedelta(seconds=60)
"""An action is fresh for 120 s after its decision; a call must leave room for a second attempt."""

DECIDING_STEMS = (
    "confirm",
    "approv",
    "aprov",
    "aprob",
    "authori",
    "autori",
    "decid",
    "decis",
    "consent",
    "accept",
    "aceit",
    "acept",
    "reject",
    "rejeit",
    "rechaz",
    "ratif",
    "endors",
    "permit",
    "allow",
)
"""Beginnings of verbs that mean a decision, in the languages that Aval speaks."""

DECIDING_WORDS = frozenset(
    {"yes", "sim", "si", "ok", "click", "clicar", "action", "actions", "acao", "accion", "acciones"}
)
"""Whole words: a tool that names an action or a click would reach for the ledger."""

AnyTool = ReadTool[Any] | EffectTool[Any]


def check_tool(tool: object, *, module: str) -> AnyTool:
    """Return the tool if it keeps every rule. Raises ToolContractError naming tool and rule."""
    if not isinstance(tool, ReadTool | EffectTool):
        raise ToolContractError(
            f"{module}: {tool!r} is neither a ReadTool nor an EffectTool of tools.contract"
        )
    name = getattr(tool, "name", type(tool).__name__)
    for holds, rule in _rules(tool):
        if not holds(tool):
            raise ToolContractError(f"{module}: tool {name!r}: {rule}")
    try:
        tool_schema(tool.name, tool.description, tool.input_model)
    except SchemaError as error:
        raise ToolContractError(f"{module}: tool {name!r}: input model: {error}") from error
    return tool


Rule = tuple[Callable[[AnyTool], bool], str]


def _rules(tool: AnyTool) -> list[Rule]:
    return [*_COMMON, *(_READ if isinstance(tool, ReadTool) else _EFFECT)]


def _has_name(tool: AnyTool) -> bool:
    name = getattr(tool, "name", None)
    return (
        isinstance(name, str)
        and len(name) <= MAX_NAME_CHARS
        and NAME_PATTERN.fullmatch(name) is not None
    )


def _decides_nothing(tool: AnyTool) -> bool:
    words = tool.name.split("_")
    return not any(word in DECIDING_WORDS or word.startswith(DECIDING_STEMS) for word in words)


def _is_described(tool: AnyTool) -> bool:
    text = getattr(tool, "description", None)
    if not isinstance(text, str) or len(text) < MIN_DESCRIPTION_CHARS:
        return False
    return len(re.findall(r"[.!?](?:\s|$)", text)) >= MIN_DESCRIPTION_SENTENCES


def _has_roles(tool: AnyTool) -> bool:
    roles = tool.roles
    return isinstance(roles, frozenset) and bool(roles) and all(isinstance(r, Role) for r in roles)


def _has_input(tool: AnyTool) -> bool:
    model = getattr(tool, "input_model", None)
    return isinstance(model, type) and issubclass(model, BaseModel)


def _has_version(tool: AnyTool) -> bool:
    return type(tool.version) is int and tool.version >= 1


_COMMON: list[Rule] = [
    (_has_name, f"name must be verb_noun in lower case, at most {MAX_NAME_CHARS} characters"),
    (_decides_nothing, "the name means a decision; the model never sees a tool that decides"),
    (
        lambda tool: isinstance(getattr(tool, "risk", None), Risk),
        "no risk, no registration: set risk to a Risk",
    ),
    (
        _is_described,
        f"description needs {MIN_DESCRIPTION_SENTENCES} sentences and {MIN_DESCRIPTION_CHARS} "
        "characters",
    ),
    (_has_version, "version must be an integer of 1 or more"),
    (_has_roles, "roles must be a frozenset of at least one Role"),
    (_has_input, "input_model must be a pydantic model"),
]

_READ: list[Rule] = [
    (lambda tool: not isinstance(tool, EffectTool), "a tool reads or has an effect, not both"),
    (lambda tool: tool.risk is Risk.READ, "a ReadTool has the risk read and no other"),
]


def _effect(check: Callable[[EffectTool[Any]], bool]) -> Callable[[AnyTool], bool]:
    return lambda tool: isinstance(tool, EffectTool) and check(tool)


_EFFECT: list[Rule] = [
    (
        lambda tool: isinstance(tool, DatabaseTool | ProviderTool),
        "an effect is a DatabaseTool or a ProviderTool",
    ),
    (lambda tool: tool.risk is not Risk.READ, "what only reads must be a ReadTool"),
    (_effect(lambda tool: isinstance(tool.confirm, Confirm)), "confirm must be a Confirm"),
    (
        _effect(lambda tool: not tool.moves_money or tool.risk is Risk.CRITICAL),
        "what moves money is critical",
    ),
    (
        _effect(lambda tool: tool.risk is not Risk.CRITICAL or tool.confirm is not Confirm.DIRECT),
        "what is critical or moves money always needs a decision: confirm must not be direct",
    ),
    (
        _effect(lambda tool: tool.risk is not Risk.CRITICAL or not tool.repeat_safe),
        "what is critical is never taken over by a machine: repeat_safe must be false",
    ),
    (
        _effect(lambda tool: timedelta() < tool.timeout <= MAX_TIMEOUT),
        f"timeout must be more than 0 and at most {MAX_TIMEOUT.total_seconds():.0f} seconds",
    ),
]
