"""Says a line beside pytest's own, also where output is captured."""

from collections.abc import Callable
from typing import Any, cast

import pytest

Report = Callable[[str], None]


def reporter(config: pytest.Config, capsys: pytest.CaptureFixture[str]) -> Report:
    """What a fixture `report` returns."""
    terminal = cast(Any, config.pluginmanager.getplugin("terminalreporter"))

    def say(line: str) -> None:
        with capsys.disabled():
            terminal.ensure_newline()
            terminal.write_line(line)

    return say
