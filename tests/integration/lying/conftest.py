"""A bench for each module, and a way to say what was counted."""

from collections.abc import Iterator

import pytest

from tests.harness.databases import Databases
from tests.integration.lying.bench import Bench, nothing_shown, running_bench
from tests.integration.lying.reporting import Report, reporter


@pytest.fixture(scope="module")
def bench(databases: Databases) -> Iterator[Bench]:
    """A database with all seats taken; without the read receipts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("activities.think.typing", nothing_shown)
        with running_bench(databases) as running:
            yield running


@pytest.fixture
def report(pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]) -> Report:
    """Says a line beside pytest's own."""
    return reporter(pytestconfig, capsys)
