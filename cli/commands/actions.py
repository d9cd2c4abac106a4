"""`aval actions ...`: what was proposed, decided and done, from PostgreSQL alone."""

from typing import TYPE_CHECKING

from cli.commands import actions_list, actions_show

if TYPE_CHECKING:
    from cli.main import Commands


def add(commands: "Commands") -> None:
    """Declare the commands."""
    group = commands.group("actions", "what was proposed, decided and done")
    actions_list.add(group)
    actions_show.add(group)
