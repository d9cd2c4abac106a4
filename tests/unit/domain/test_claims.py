"""Claims of something done, told from everything else that is said: both error rates on labelled
sentences, of which the rules have seen one half alone.

`claims.jsonl`: a sentence, whether it claims what nothing supports, and the facts that the call
carried (`tool:status:cents`) or the reads whose answers the model had.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from domain.actions import Status
from domain.claims import ClaimKind, KnownAction, claims_in, unsupported

ROOT = Path(__file__).parents[3]
ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("claims.jsonl").read_text("utf-8").splitlines()
]
LIMITS = {"seen": (0.02, 0.02), "held_out": (0.10, 0.10)}
"""At most so many of the claims missed, and of the others counted."""


@dataclass(frozen=True)
class Rates:
    """How a half was judged."""

    claims: int
    missed: int
    others: int
    alarms: int

    def __str__(self) -> str:
        return (
            f"{self.missed} of {self.claims} missed ({self.missed / self.claims:.1%}), "
            f"{self.alarms} of {self.others} counted wrongly ({self.alarms / self.others:.1%})"
        )


def judged(half: str) -> Rates:
    """Apply the rules to a half."""
    rows = [(row["false_claim"], _is_counted(row)) for row in ROWS if row["half"] == half]
    claims = [counted for false_claim, counted in rows if false_claim]
    others = [counted for false_claim, counted in rows if not false_claim]
    return Rates(len(claims), claims.count(False), len(others), others.count(True))


def _is_counted(row: dict[str, Any]) -> bool:
    known = [_known(*fact.split(":")) for fact in row.get("facts", [])]
    return bool(unsupported(row["text"], known=known, read=row.get("reads", [])))


def _known(tool: str, status: str, cents: str) -> KnownAction:
    amount = int(cents) if cents else None
    return KnownAction(tool=tool, status=Status(status), amount_cents=amount)


@pytest.mark.parametrize("half", LIMITS)
def test_both_error_rates_are_low(half: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Few claims are missed and few other sentences are counted, also in the half that the rules
    were not written by; the page of the docs tells these very figures."""
    rates = judged(half)
    with capsys.disabled():
        sys.stdout.write(f"\nclaims, {half}: {rates}\n")
    most_missed, most_alarms = LIMITS[half]
    assert rates.missed / rates.claims <= most_missed
    assert rates.alarms / rates.others <= most_alarms
    page = (ROOT / "docs" / "claims.md").read_text("utf-8")
    told = f"{rates.claims} | {rates.missed} ({rates.missed / rates.claims:.1%})"
    assert (
        f"| {told} | {rates.others} | {rates.alarms} ({rates.alarms / rates.others:.1%}) |" in page
    )


def test_the_sentences_are_many_and_of_each_kind() -> None:
    """Both halves hold claims and others in each language; the most are Portuguese."""
    assert len(ROWS) >= 120
    for half in LIMITS:
        of_half = [row for row in ROWS if row["half"] == half]
        assert len(of_half) >= 80
        kinds = {(row["language"], row["false_claim"]) for row in of_half}
        assert len(kinds) == 6
        portuguese = sum(row["language"] == "pt" for row in of_half)
        assert portuguese > len(of_half) / 2
    assert len({json.dumps({**row, "half": ""}) for row in ROWS}) == len(ROWS)


PIX = "O Pix de R$ 150,00 foi gerado às 14:02."


@pytest.mark.parametrize("status", list(Status))
def test_only_what_is_executed_supports(status: Status) -> None:
    """The same sentence is fine for an executed action and a claim for any other."""
    known = [KnownAction(tool="create_pix_charge", status=status, amount_cents=15000)]
    assert bool(unsupported(PIX, known=known)) is (status is not Status.EXECUTED)


def test_another_amount_or_another_thing_does_not_support() -> None:
    """The amount that is named has to be the action's, and the action of that kind; an own tool may
    be about anything."""
    other = KnownAction(tool="create_pix_charge", status=Status.EXECUTED, amount_cents=8000)
    booking = KnownAction(tool="create_booking", status=Status.EXECUTED)
    own = KnownAction(tool="order_cake", status=Status.EXECUTED)
    assert unsupported(PIX, known=[other])
    assert unsupported(PIX, known=[booking])
    assert not unsupported(PIX, known=[own])


def test_a_read_supports_a_state_and_no_deed() -> None:
    """What a read showed may be told; that the speaker did it may not."""
    assert not unsupported(
        "Sua consulta está marcada para sexta.", known=[], read=["list_bookings"]
    )
    assert unsupported("Marquei sua consulta para sexta.", known=[], read=["list_bookings"])
    assert unsupported("A transferência foi feita.", known=[], read=["list_bookings"])


def test_a_claim_keeps_no_word() -> None:
    """What is stored as evidence is kind, subject and amount."""
    (claim,) = claims_in("Pronto, gerei o Pix de R$ 1.150,50 para o João Silva!")
    assert claim.kind is ClaimKind.DEED
    assert claim.about == {"charge"}
    assert claim.amounts == {115050}


@pytest.mark.parametrize("text", ["", " ", "?!", "\u200b", "a" * 60_000, "se " * 20_000])
def test_any_text_is_read_quickly(text: str) -> None:
    """No text makes the rules fail or stall."""
    assert claims_in(text) == []
