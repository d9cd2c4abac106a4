"""The metrics are served where they are asked for, and a port that is taken stops the start."""

import socket

import httpx
import pytest

from domain.errors import SettingsError
from store.alerts import Kind, Stuck
from workflows.metrics import serving_metrics, show_stuck

HOST = "127.0.0.1"


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_metrics_are_served_while_the_block_runs() -> None:
    """Gauges and one counter for each kind are there from the start; afterwards the port is free
    again."""
    port = _free_port()
    show_stuck(Stuck(count=3, oldest_s=61.5))
    with serving_metrics(host=HOST, port=port):
        text = httpx.get(f"http://{HOST}:{port}/metrics", trust_env=False).text
    assert "\naval_actions_executing_unknown 3.0\n" in text
    assert "\naval_actions_executing_oldest_seconds 61.5\n" in text
    for kind in Kind:
        assert f'\naval_alerts_total{{kind="{kind}"}} ' in text
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://{HOST}:{port}/metrics", trust_env=False)


def test_no_port_serves_nothing() -> None:
    """The default of 0 listens nowhere: not on a random port either."""
    with serving_metrics(host="no such host", port=0):
        pass


def test_a_port_that_is_taken_is_named() -> None:
    """Two processes with one port: the second says which setting to change."""
    with (
        socket.create_server((HOST, 0)) as listener,
        pytest.raises(SettingsError, match="AVAL_METRICS_PORT: cannot listen on"),
        serving_metrics(host=HOST, port=listener.getsockname()[1]),
    ):
        pass
