"""Fixed ports, each moved by one setting, each taken one named."""

import re
import socket
from pathlib import Path

import pytest

from cli.stack.errors import StackError
from cli.stack.ports import HOST, SETTINGS, Ports, free_ports

EXAMPLE = Path(__file__).parents[3] / ".env.example"


def test_the_example_shows_the_ports_that_hold_without_a_setting() -> None:
    """`.env.example` and the code name the same settings with the same ports."""
    text = EXAMPLE.read_text(encoding="utf-8")
    shown = {name: int(at) for name, at in re.findall(r"^#(AVAL_\w+_PORT)=(\d+)", text, re.M)}
    assert shown.pop("AVAL_METRICS_PORT") == 0  # off without a setting; the product's own
    assert shown == dict(SETTINGS.values())


def test_a_setting_moves_its_port_and_no_other() -> None:
    """Each part is moved alone."""
    ports = Ports.from_environment({"AVAL_CLAUDE_SIM_PORT": "9102"})
    assert (ports.claude, ports.api, ports.payments) == (9102, 8080, 8103)


@pytest.mark.parametrize("text", ["abc", "0", "65536", "-1", "80.80", "٨٠٨٠"])
def test_what_is_no_port_is_refused_with_name_and_value(text: str) -> None:
    """A bad port names its setting and what was given."""
    with pytest.raises(StackError, match=rf"AVAL_API_PORT: {text!r} is not a port"):
        Ports.from_environment({"AVAL_API_PORT": text})


def test_two_parts_on_one_port_are_refused() -> None:
    """The second part would fail with "address in use", far from the mistake."""
    with pytest.raises(StackError, match=r"AVAL_CLAUDE_SIM_PORT and AVAL_WHATSAPP_SIM_PORT"):
        Ports.from_environment({"AVAL_CLAUDE_SIM_PORT": "8101"})


def test_a_taken_port_is_named_with_the_setting_that_moves_it() -> None:
    """The newcomer is told what to set, not only what failed."""
    with socket.create_server((HOST, 0)) as holder:
        taken = holder.getsockname()[1]
        ports = Ports.from_environment({"AVAL_PAYMENTS_SIM_PORT": str(taken)})
        with pytest.raises(StackError, match=rf"port {taken} .*AVAL_PAYMENTS_SIM_PORT"):
            ports.check_free(("payments",))
        ports.check_free(())


def test_free_ports_are_different_and_can_be_had() -> None:
    """What the demo and the tests take is really free."""
    found = free_ports(6)
    assert len(set(found)) == 6
    for port in found:
        socket.create_server((HOST, port)).close()
