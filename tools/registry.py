"""Finds the tools of a deployment, checks each, and says what may be offered to whom.

A module lists its tools in `TOOLS`. The order of modules and tools is the order in which the model
sees them, so it stays the same from call to call (facts/claude.md §2.1: any change invalidates the
whole cache).
"""

import importlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from domain.errors import SettingsError, ToolContractError
from domain.people import Role
from tools.checks import AnyTool, check_tool
from tools.contract import ReadTool
from tools.schema import ToolSchema, tool_schema


class UnknownToolError(LookupError):
    """No such tool in this deployment. The model may invent names; the caller answers it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no tool named {name!r}")


class Registry:
    """The tools of a deployment: checked, in a fixed order, each name once."""

    def __init__(self, tools: Iterable[AnyTool]) -> None:
        """Take tools that `check_tool` let pass. Raises ToolContractError for a repeated name."""
        self._tools: dict[str, AnyTool] = {}
        self._schemas: dict[str, ToolSchema] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ToolContractError(f"tool {tool.name!r}: the name is taken by another tool")
            self._tools[tool.name] = tool
            self._schemas[tool.name] = tool_schema(tool.name, tool.description, tool.input_model)

    @property
    def names(self) -> list[str]:
        """All names, in order."""
        return list(self._tools)

    def get(self, name: str) -> AnyTool:
        """Return the tool. Raises UnknownToolError. It may not be one that was offered."""
        try:
            return self._tools[name]
        except KeyError:
            raise UnknownToolError(name) from None

    def offered_to(self, role: Role, read_only: bool = False) -> list[AnyTool]:
        """Return what a person of this role may be offered, in order; reads alone if asked so."""
        return [
            tool
            for tool in self._tools.values()
            if role in tool.roles and (isinstance(tool, ReadTool) or not read_only)
        ]

    def schemas(self, role: Role, read_only: bool = False) -> list[ToolSchema]:
        """Return name, description and strict input schema of what `offered_to` returns."""
        return [self._schemas[tool.name] for tool in self.offered_to(role, read_only)]


def load_tools(modules: Sequence[str], extra_path: Path | None = None) -> Registry:
    """Import each module, check what its `TOOLS` lists (instances or classes), register all.

    `extra_path` is a folder in which a user's own package is looked for, after our own. Raises
    SettingsError for a folder or module that is not there, ToolContractError for a broken rule.
    """
    if extra_path is not None:
        _add_folder(extra_path)
    return Registry(
        check_tool(_made(listed, module), module=module)
        for module in modules
        for listed in _listed(module)
    )


def _add_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise SettingsError(f"AVAL_PATH: {str(folder)!r} is not a folder")
    resolved = str(folder.resolve())
    if resolved not in sys.path:
        sys.path.append(resolved)


def _listed(module: str) -> Sequence[object]:
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, but something that it imports is not
        raise SettingsError(f"AVAL_TOOLS: there is no module {module!r}; see AVAL_PATH") from error
    tools = getattr(loaded, "TOOLS", None)
    if not isinstance(tools, list | tuple) or not tools:
        raise ToolContractError(f"{module}: has no list TOOLS, or it is empty")
    return tools


def _made(listed: object, module: str) -> object:
    if not isinstance(listed, type):
        return listed
    try:
        return listed()
    except TypeError as error:
        raise ToolContractError(f"{module}: tool {listed.__name__!r}: {error}") from error
