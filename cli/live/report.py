"""What a live run prints: each burst and press as it happens, then what was seen in tables."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from cli import output
from cli.live.persons import Event
from cli.live.plan import Plan
from cli.live.probing import Verdict
from cli.live.spending import Spending
from cli.live.watching import Did
from llm.prices import NO_TOKENS, Tokens

NO_CALL_BY_A_PRESS = "a press costs no model call"
MOST_TEXT = 240


@dataclass
class SceneSum:
    """What one scene came to. `broken`: the invariants that did not hold in it."""

    scene: str
    turns: int = 0
    calls: int = 0
    tokens: Tokens = NO_TOKENS
    usd: Decimal = Decimal(0)
    proposed: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def add(self, did: Did, usd: Decimal, held: dict[str, bool]) -> None:
        """Count one burst or press."""
        self.turns += did.turns
        self.calls += len(did.calls)
        self.tokens += did.tokens
        self.usd += usd
        self.proposed += [one.tool for one in did.proposals]
        self.broken += [name for name, holds in held.items() if not holds]


def opening(plan: Plan) -> str:
    """What is real, and how much it may cost."""
    return (
        f"{plan.model} at {plan.base_url} is asked for real; WhatsApp, payments and people are "
        f"simulated.\nThe run stops at USD {plan.limit_usd} (AVAL_LIVE_LIMIT_USD)."
    )


def verdicts(model: str, found: Sequence[Verdict]) -> str:
    """The table of assumptions."""
    rows = [(one.assumption, _said(one), one.seen) for one in found]
    rows.append(("how long a prompt may be", "not asked", "it would cost a prompt of that length"))
    title = f"What llm/models.py says of {model}"
    return "\n".join(output.section(title, ("ASSUMPTION", "VERDICT", "SEEN"), rows))


def _said(one: Verdict) -> str:
    return {True: "holds", False: "does not hold", None: "not found out"}[one.holds]


def happened(event: Event, did: Did, usd: Decimal, spending: Spending) -> str:
    """One burst or press: the person, the model, Aval's answer, the cost, the invariants."""
    return "\n".join(_happened(event, did, usd, spending))


def _happened(event: Event, did: Did, usd: Decimal, spending: Spending) -> Iterator[str]:
    for what in event.what:
        yield _line(event.person, ">", f"[presses {what}]" if event.did == "pressed" else what)
    for block in did.blocks:
        yield _line("model", ":", _block(block))
    for one in did.proposals:
        yield _line("Aval", ":", f"proposes {one.tool}, action {one.id[:12]}")
    for answer in event.answers:
        buttons = "  ".join(f"[{title}]" for title in answer.buttons)
        yield _line("Aval", "<", f"{answer.text}\n{buttons}" if buttons else answer.text)
    if not event.answers:
        yield _line("Aval", "<", "(silence)")
    tokens = did.tokens
    yield _line(
        "",
        "",
        f"calls {len(did.calls)}, tokens in {tokens.prompt} (cached {tokens.cached}), "
        f"out {tokens.out}, USD {usd:.6f}; spent {spending.usd:.6f}",
    )
    yield _line("", "", "; ".join(_held(event.held)))


def _block(block: dict[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return f"says {_short(str(block.get('text')))}"
        case "tool_use":
            given = json.dumps(block.get("input"), ensure_ascii=False)
            return f"calls {block.get('name')} {_short(given)}"
        case other:
            return f"sends {other}"


def _held(held: dict[str, bool]) -> Iterable[str]:
    return (f"{name}: {'held' if holds else 'BROKEN'}" for name, holds in held.items())


def table(sums: Iterable[SceneSum]) -> str:
    """The scenes, one a line."""
    head = ("SCENE", "TURNS", "CALLS", "TOKENS IN", "CACHED", "OUT", "USD", "PROPOSED", "BROKEN")
    rows = [
        (
            one.scene,
            one.turns,
            one.calls,
            one.tokens.prompt,
            one.tokens.cached,
            one.tokens.out,
            f"{one.usd:.6f}",
            ", ".join(one.proposed) or "nothing",
            ", ".join(dict.fromkeys(one.broken)) or "nothing",
        )
        for one in sums
    ]
    return "\n".join(output.section("What was played", head, rows))


def last_line(
    *, found: Sequence[Verdict], sums: Sequence[SceneSum], last: Event | None, spending: Spending
) -> str:
    """The counts of the run; presses and effects are the far side's."""
    tokens = spending.tokens
    counts = {
        "scenes": len(sums),
        "turns": sum(one.turns for one in sums),
        "calls": spending.calls,
        "tokens_in": tokens.prompt,
        "cached": tokens.cached,
        "tokens_out": tokens.out,
        "usd": f"{spending.usd:.6f}",
        "proposals": sum(len(one.proposed) for one in sums),
        "confirmed": last.confirmed if last else 0,
        "presses": last.presses if last else 0,
        "effects": last.effects if last else 0,
        "broken": sum(len(one.broken) for one in sums),
        "assumptions": f"{sum(one.holds is True for one in found)}/{len(found)}",
    }
    return "live: " + " ".join(f"{name}={value}" for name, value in counts.items())


def _short(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…"


def _line(who: str, sign: str, text: str) -> str:
    head = f"{who:<6} {sign:<1} "
    lines = [output.plain(line) for line in text.splitlines() if line.strip()]
    return head + ("\n" + " " * len(head)).join(lines)
