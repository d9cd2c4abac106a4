"""Where each part listens: always loopback, fixed ports, each moved by one setting.

A port that another program holds is named together with the setting that moves it: "address in
use" from the depth of a child's log tells a newcomer nothing.
"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

from cli.stack.errors import StackError

HOST = "127.0.0.1"

SETTINGS: dict[str, tuple[str, int]] = {
    "api": ("AVAL_API_PORT", 8080),
    "temporal": ("AVAL_TEMPORAL_PORT", 7233),
    "temporal_ui": ("AVAL_TEMPORAL_UI_PORT", 8233),
    "whatsapp": ("AVAL_WHATSAPP_SIM_PORT", 8101),
    "claude": ("AVAL_CLAUDE_SIM_PORT", 8102),
    "payments": ("AVAL_PAYMENTS_SIM_PORT", 8103),
}
"""Each part's setting and the port it has without one; `.env.example` shows the same."""


@dataclass(frozen=True, kw_only=True)
class Ports:
    """The TCP ports of one stack. PostgreSQL needs none: it listens on a Unix socket."""

    api: int
    temporal: int
    temporal_ui: int
    whatsapp: int
    claude: int
    payments: int

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """The ports that the settings name. Raises StackError for one that is no port, or for
        two parts on one port."""
        ports = cls(**{part: _port(environment, name, at) for part, (name, at) in SETTINGS.items()})
        seen: dict[int, str] = {}
        for part, (name, _) in SETTINGS.items():
            port = getattr(ports, part)
            if port in seen:
                raise StackError(f"{name} and {seen[port]} are both {port}; move one of them")
            seen[port] = name
        return ports

    @classmethod
    def free(cls) -> Self:
        """Ports that were free a moment ago, all different."""
        return cls(**dict(zip([f.name for f in fields(cls)], free_ports(6), strict=True)))

    def check_free(self, parts: tuple[str, ...]) -> None:
        """Raise StackError for the first of these parts whose port is taken."""
        for part in parts:
            name, _ = SETTINGS[part]
            if is_taken(getattr(self, part)):
                raise StackError(
                    f"port {getattr(self, part)} is taken by another program; "
                    f"set {name} to a free port (in the environment or in .env)"
                )


def free_ports(count: int) -> list[int]:
    """`count` different ports that the system has just found free on loopback."""
    held = [socket.create_server((HOST, 0)) for _ in range(count)]
    try:
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def is_taken(port: int) -> bool:
    """Whether nobody may listen on this loopback port now."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return True
    return False


def _port(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "").strip()
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise StackError(f"{name}: {text!r} is not a port (1 to 65535)")
    return int(text)
