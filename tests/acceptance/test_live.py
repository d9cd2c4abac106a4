"""`aval live`: the stand-in for Claude plays the real model, with a key and an address of its own.

Whatever the model says, the invariants and the money are judged; calls and cost are compared with
what the far side itself has counted.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.stack.ports import free_ports
from tests.acceptance.commands import ROOT, open_folder, said, start

KEY, ADMIN = "sk-ant-of-a-test", "admin-secret-of-a-test"
FOREIGN = {
    "AVAL_WHATSAPP_TOKEN": "EAAof-somebody",
    "AVAL_PAGARME_API_KEY": "sk_live_of_somebody",
    "AVAL_DATABASE_URL": "postgresql://127.0.0.1:1/of_somebody",
    "TEMPORAL_ADDRESS": "127.0.0.1:1",
}
SCENES = (
    "the demo",
    "small talk",
    "an ambiguous customer",
    "free slots",
    "book, then cancel",
    "an amount in words",
    "'e o Pix?' after the click",
    "an injection in a quoted text",
    "an amount in a wrong format",
    "two effects at once",
    "off topic",
)
USD_PER_TOKEN = {
    "input_tokens": Decimal("0.10") / 1_000_000,
    "cache_read_input_tokens": Decimal("0.01") / 1_000_000,
    "output_tokens": Decimal("0.50") / 1_000_000,
    "ephemeral_5m_input_tokens": Decimal("0.125") / 1_000_000,
    "ephemeral_1h_input_tokens": Decimal("0.20") / 1_000_000,
}
"""Haiku 5.5's list, written down a second time."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One run: its exit code, what it printed, the usages that the far side has answered with."""

    code: int
    text: str
    usages: list[dict[str, Any]]

    @property
    def counts(self) -> dict[str, str]:
        """The last line, by name."""
        last = self.text.splitlines()[-1]
        assert last.startswith("live: "), self.text
        return dict(word.split("=") for word in last.removeprefix("live: ").split(" "))

    @property
    def usd(self) -> Decimal:
        """What the far side's usages cost."""
        flat = [{**usage, **usage["cache_creation"]} for usage in self.usages]
        return sum((one[k] * usd for one in flat for k, usd in USD_PER_TOKEN.items()), Decimal(0))


@dataclass(frozen=True, kw_only=True)
class Running:
    """A run that has begun, against a model of its own."""

    folder: Path
    process: subprocess.Popen[str]
    model: str

    def ended(self) -> Ran:
        """Wait until it has ended."""
        try:
            code = self.process.wait(timeout=150)
        except subprocess.TimeoutExpired:
            pytest.fail(f"no end after 150 s: {said(self.folder)}")
        found = httpx.get(
            f"{self.model}/admin/journal", headers={"X-Sim-Secret": ADMIN}, trust_env=False
        )
        entries = found.raise_for_status().json()["entries"]
        answers = [one["response"] for one in entries if one["path"] == "/v1/messages"]
        usages = [answer["usage"] for answer in answers if answer and "usage" in answer]
        return Ran(code=code, text=said(self.folder), usages=usages)


@contextmanager
def model_on(port: int) -> Iterator[str]:
    """A process that answers as Claude does; its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "simulators.claude"],
        cwd=ROOT,
        env={
            **os.environ,
            "SIM_CLAUDE_PORT": str(port),
            "SIM_CLAUDE_KEY": KEY,
            "SIM_CLAUDE_ADMIN_SECRET": ADMIN,
        },
    )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                httpx.get(f"{url}/health", trust_env=False).raise_for_status()
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield url
    finally:
        process.kill()
        process.wait()


@contextmanager
def live(port: int, **settings: str) -> Iterator[Running]:
    """`aval live` against a model of its own, amid credentials of others."""
    with model_on(port) as url, open_folder() as folder:
        given: Mapping[str, str] = {
            **FOREIGN,
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": url,
            **settings,
        }
        process = start(folder, "live", environment=given)
        try:
            yield Running(folder=folder, process=process, model=url)
        finally:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Ran, Ran]]:
    """A whole run, and one that may spend a tenth of a cent, side by side: most of their time is
    waiting."""
    ports = free_ports(2)
    with ExitStack() as stack:
        whole = stack.enter_context(live(ports[0]))
        small = stack.enter_context(live(ports[1], AVAL_LIVE_LIMIT_USD="0.001"))
        yield whole.ended(), small.ended()


def test_without_a_key_it_says_so_and_does_nothing() -> None:
    """One clear line, exit code 0, no file: `make live` may stand in any script."""
    with open_folder() as folder:
        process = start(folder, "live", environment=FOREIGN)
        assert process.wait(timeout=30) == 0
        (line,) = said(folder).splitlines()
        assert line.startswith("live: ANTHROPIC_API_KEY is not set, so nothing was asked")
        assert [one.name for one in folder.iterdir()] == ["out"]


@pytest.mark.slow
def test_everything_is_played_and_nothing_happens_without_a_click(both: tuple[Ran, Ran]) -> None:
    """All scenes, all invariants; four clicks of their own person and two charges for them, and
    others' credentials in the environment reached nobody."""
    whole, _ = both
    assert whole.code == 0, whole.text
    assert re.findall(r"^-- \d+\. (.+)$", whole.text, re.M) == list(SCENES)
    assert {
        "scenes": "11",
        "confirmed": "4",
        "presses": "7",
        "effects": "2",
        "broken": "0",
        "assumptions": "4/4",
    }.items() <= whole.counts.items(), whole.text
    assert "BROKEN" not in whole.text.split("What was played")[0]
    assert whole.text.count("another's press does nothing: held") == 1
    assert KEY not in whole.text


@pytest.mark.slow
def test_what_was_spent_is_what_the_far_side_has_counted(both: tuple[Ran, Ran]) -> None:
    """Calls, tokens and dollars are those of the answers that the model gave, each counted once."""
    whole, _ = both
    assert whole.counts["calls"] == str(len(whole.usages))
    assert whole.counts["tokens_out"] == str(sum(one["output_tokens"] for one in whole.usages))
    assert whole.counts["usd"] == f"{whole.usd:.6f}"


@pytest.mark.slow
def test_at_the_limit_it_stops_and_says_how_far_it_came(both: tuple[Ran, Ran]) -> None:
    """Exit code 1 in the scene that reached the limit; no more than a call under way comes on
    top."""
    _, small = both
    assert small.code == 1, small.text
    assert "live: stopped: USD 0.00" in small.text
    assert "the limit is 0.001 (AVAL_LIVE_LIMIT_USD); it came to scene 1, 'the demo'" in small.text
    assert (small.counts["confirmed"], small.counts["effects"]) == ("0", "0")
    assert len(small.usages) - int(small.counts["calls"]) in {0, 1}
    assert "small talk" not in small.text


def test_a_limit_of_next_to_nothing_stops_after_the_first_call() -> None:
    """Also the questions about the model are paid for, and so they stop, too."""
    (port,) = free_ports(1)
    with live(port, AVAL_LIVE_LIMIT_USD="0.000001") as running:
        ran = running.ended()
        assert ran.code == 1, ran.text
        assert len(ran.usages) == 1
        assert "it came to 0 of the assumptions, and to no scene" in ran.text


def test_a_key_that_is_refused_is_one_line() -> None:
    """Nothing is started for a key that nobody accepts."""
    (port,) = free_ports(1)
    with live(port, ANTHROPIC_API_KEY="sk-ant-another") as running:
        ran = running.ended()
        assert ran.code == 1
        assert "aval: the model cannot be asked: model_config: HTTP 401" in ran.text
        assert "sk-ant-another" not in ran.text
