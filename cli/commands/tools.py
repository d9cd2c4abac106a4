"""`aval tools`: what the model may ask for in this deployment, and who must say yes to it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cli import output
from domain.people import Role
from settings import Settings
from tools.contract import EffectTool
from tools.registry import Registry, load_tools

if TYPE_CHECKING:
    from cli.main import Commands


def add(commands: "Commands") -> None:
    """Declare the command."""
    commands.add("tools", run, "each tool with its risk, how it is confirmed, and for whom")


def run(_arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Print the tools that AVAL_TOOLS and AVAL_PATH name; a broken one is named and refused."""
    registry = load(environment)
    rows = []
    for name in registry.names:
        tool = registry.get(name)
        confirm = tool.confirm.value if isinstance(tool, EffectTool) else "-"
        money = "yes" if isinstance(tool, EffectTool) and tool.moves_money else "-"
        roles = ", ".join(role.value for role in Role if role in tool.roles)
        rows.append((name, tool.risk.value, confirm, money, roles))
    print(output.table(("TOOL", "RISK", "CONFIRM", "MOVES MONEY", "ROLES"), rows))
    return 0


def load(environment: dict[str, str]) -> Registry:
    """The deployment's tools, from the same two settings that the worker reads. Raises
    SettingsError or ToolContractError."""
    named = [word.strip() for word in environment.get("AVAL_TOOLS", "").split(",") if word.strip()]
    path = environment.get("AVAL_PATH", "").strip()
    return load_tools(named or Settings.model_fields["tools"].default, Path(path) if path else None)
