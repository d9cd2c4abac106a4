"""The figures of a run as a table."""

import statistics
from collections.abc import Iterator, Mapping

from tests.chaos.verdict import GATED, Verdict


def table(total: Verdict, head: Mapping[str, str]) -> Iterator[str]:
    """The lines: what was run, what was counted, and each violation."""
    for name, value in [*head.items(), *_rows(total)]:
        yield f"{name:42} {value}"
    for one in total.violations:
        yield f"VIOLATION {one.what}: action {one.action!r}: {one.detail}"


def _rows(total: Verdict) -> list[tuple[str, str]]:
    found = {what: sum(one.what == what for one in total.violations) for what in GATED}
    recovery = total.recovery_s or [0.0]
    return [
        ("kills by point", _counts(total.kills)),
        ("stalls by point", _counts(total.stops)),
        ("blows", _counts(total.blows)),
        ("operators", _operators(total)),
        ("proposals", str(total.proposals)),
        ("actions ended as", _counts(total.ends)),
        ("valid confirmations", str(total.confirmations)),
        ("effects", str(total.effects)),
        *((what, str(count)) for what, count in found.items()),
        ("still verifying, listed and told", str(total.verifying)),
        ("executed, no feedback arrived", str(total.untold)),
        ("messages doubled", str(total.doubled)),
        (
            "seconds from kill to word",
            f"median {statistics.median(recovery):.1f}, max {max(recovery):.1f}",
        ),
    ]


def _operators(total: Verdict) -> str:
    did = total.operators
    words = [
        f"{did['looks']} looks",
        f"{did['executed']} settled as executed",
        f"{did['failed']} as failed",
        f"{did['resend']} resends ({total.resent} sent)",
        f"refused {_counts(total.refused)}",
    ]
    if total.broken_off:
        words.append(f"broken off {_counts(total.broken_off)}")
    return ", ".join(words)


def _counts(counter: Mapping[str, int]) -> str:
    parts = (f"{name} {count}" for name, count in sorted(counter.items()))
    return f"{sum(counter.values())}: {', '.join(parts)}" if counter else "0"
