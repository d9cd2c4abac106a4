"""What a process shows to Prometheus: how many alerts it gave, and how much is stuck.

Labels are kinds, never ids: an id for each action would grow without end. The two gauges are read
from the database, so every process shows the same; take their maximum, not their sum.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, start_http_server

from domain.errors import SettingsError
from store.alerts import Kind, Stuck

_ALERTS = Counter("aval_alerts", "Alerts that this process gave.", ["kind"])
_UNKNOWN = Gauge(
    "aval_actions_executing_unknown", "Actions that execute with a send whose outcome is in doubt."
)
_OLDEST = Gauge(
    "aval_actions_executing_oldest_seconds",
    "Seconds since the oldest of them began to execute; 0 if there is none.",
)

for _kind in Kind:
    _ALERTS.labels(_kind.value)  # shown as 0 before the first, so that a rate sees the first


def count_alert(kind: Kind) -> None:
    """One more alert was given."""
    _ALERTS.labels(kind.value).inc()


def show_stuck(now: Stuck | None) -> None:
    """Show how much is stuck now; None if it cannot be told: an old figure would look like calm."""
    _UNKNOWN.set(now.count if now else math.nan)
    _OLDEST.set(now.oldest_s if now else math.nan)


@contextmanager
def serving_metrics(*, host: str, port: int) -> Iterator[None]:
    """Serve `/metrics` while the block runs, in a thread of its own; nothing if `port` is 0.

    Raises SettingsError when the port cannot be listened on.
    """
    if port == 0:
        yield
        return
    try:
        server, thread = start_http_server(port, addr=host)
    except OSError as error:
        raise SettingsError(
            f"AVAL_METRICS_PORT: cannot listen on {host}:{port} ({error.strerror}); processes on "
            "one machine need a port each"
        ) from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
