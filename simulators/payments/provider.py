"""One provider behind all dialects: its memory, its balance, and keyed execution.

What a dialect's act makes of money goes through the shared acts here, so that effects, counters
and balance mean the same in every dialect.
"""

import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass, replace

from simulators.payments.config import PaymentsSimulatorConfig
from simulators.payments.replies import RefusedError, Reply, Twist
from simulators.payments.state import State

Act = Callable[[Twist], Reply]
_ALPHABET = string.ascii_letters + string.digits


@dataclass(frozen=True, kw_only=True)
class KeyRule:
    """What a dialect does with a repeated key. No rule at all: it knows no keys."""

    retention_seconds: float
    mismatch: Reply | None = None
    """The answer to a known key with another request; None: replayed without comparing."""
    busy: Reply | None = None
    """The answer to a key whose first request is still under way; None: not noticed."""
    crashed: Reply | None = None
    """What is kept of an act that ended in a 500; None: what the act itself gave."""


class Provider:
    """Keyed execution and the shared acts over one State."""

    def __init__(self, config: PaymentsSimulatorConfig, state: State) -> None:
        """Take the settings and the memory."""
        self.config = config
        self.state = state

    def execute(
        self, key: str | None, mark: str, twist: Twist, act: Act, rule: KeyRule | None
    ) -> Reply:
        """Run `act` once per key as `rule` says, in one transaction with the kept answer.

        `mark` stands for the whole request; a rule may compare it. Raises RefusedError for a
        refusal that is not kept.
        """
        with self.state.transaction():
            if key is None or rule is None:
                return _kept_or_raised(act, twist)
            if not twist.ignore_key:
                kept = self.state.kept(key, retention_seconds=rule.retention_seconds)
                if kept is not None and rule.mismatch is not None and kept.mark != mark:
                    return rule.mismatch
                if kept is not None:
                    return Reply(kept.status, kept.doc, replayed=True)
            reply = _kept_or_raised(act, twist)
            if twist.crash and rule.crashed is not None:
                reply = replace(rule.crashed, acted=reply.acted)
            self.state.keep(key, reply.status, reply.doc, mark=mark)
            return reply

    def available(self) -> int:
        """Return the available balance in cents."""
        return self.config.opening_balance_cents + int(self.state.number("balance_change"))

    def charged(
        self, key: str | None, *, payer: str, description: str, amount_cents: int, ref: str
    ) -> None:
        """Record that a charge came into being."""
        self.state.add_effect(
            key=key or f"keyless-{ref}",
            operation="charge",
            business=f"charge|{payer}|{amount_cents}|{description}",
            amount_cents=amount_cents,
            ref=ref,
        )

    def paid(self, *, amount_cents: int) -> None:
        """Add what a customer paid to the balance."""
        self.state.add_number("balance_change", amount_cents)

    def refunded(
        self, key: str | None, *, charge_ref: str, amount_cents: int, was_paid: bool
    ) -> None:
        """Record that a charge was given back, or cancelled if it was not paid."""
        if was_paid:
            self.state.add_number("balance_change", -amount_cents)
        self.state.add_effect(
            key=key or f"keyless-{secrets.token_hex(8)}",
            operation="refund",
            business=f"refund|{charge_ref}|{amount_cents}",
            amount_cents=amount_cents,
            ref=charge_ref,
        )

    def transferred(self, key: str | None, *, account: str, amount_cents: int, ref: str) -> None:
        """Record that balance was paid out to `account`."""
        self.state.add_number("balance_change", -amount_cents)
        self.state.add_number("transferred", amount_cents)
        self.state.add_effect(
            key=key or f"keyless-{ref}",
            operation="transfer",
            business=f"transfer|{account}|{amount_cents}",
            amount_cents=amount_cents,
            ref=ref,
        )


def new_id(prefix: str, *, length: int = 16) -> str:
    """Return a fresh id such as `ch_…`."""
    return f"{prefix}_" + "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _kept_or_raised(act: Act, twist: Twist) -> Reply:
    try:
        return act(twist)
    except RefusedError as refused:
        if not refused.kept:
            raise
        return refused.reply
