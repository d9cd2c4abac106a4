"""A payment provider that speaks several dialects, as a real HTTP process.

It shares no code with the product: the two agree over the wire or not at all.

All dialects stand beside each other on one port, each under its own paths, over one provider:
effects, counters, balance, faults, journal, clock and the /admin pages are the same for all. What a
test orders or counts therefore means the same whichever gateway it drives.

**Adding a dialect** `foo`:

1. A package `dialects/foo/` with a class `Foo(Dialect)` (see `dialects/__init__.py`): whether a
   request is authorized, what a refusal looks like, what a repeated key means (`KeyRule`, or None
   for a provider without keys; one whose key is in the path refuses the repeat in its own act),
   which headers go with an answer, and how a customer pays one of its charges.
2. `add_routes` mounts its own paths (a prefix that no other dialect has). A request with an effect
   goes through `desk.write(request, act)`, one without through `desk.read(request, show)`: that
   gives it journal, faults and authorization. A key that is not in the header `Idempotency-Key`
   is named by `desk.write(..., key_in=...)`.
3. An act gets a `Twist` and honours it: `fail` (a failure without effect), `precondition` (a
   refusal after execution began: `RefusedError(..., kept=True)`), `alter` (one real more),
   `lookup_lag` and `settle_after` (seconds). It stores its objects by `provider.state.put` under a
   kind of its own, and tells the provider what really happened: `provider.charged`, `refunded`,
   `transferred`, `paid`. Without that nothing is counted.
4. One line in `dialects.bundled()`.

Pix codes come from `brcode.render`, ids from `provider.new_id`. Everything that is asked of one
dialect's fault kinds is asked of the others: run the table of
`tests/integration/gateways` over it.
"""

from simulators.payments.app import create_app
from simulators.payments.client import PaymentsSimulatorClient
from simulators.payments.config import PaymentsSimulatorConfig

__all__ = ["PaymentsSimulatorClient", "PaymentsSimulatorConfig", "create_app"]
