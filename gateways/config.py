"""What every gateway's configuration is checked for before it may move money.

The trap: a key of the live environment behind a configuration that everybody believes to be a
sandbox. So the mode is said in words and has to agree with the key and with the address.
"""

from collections.abc import Callable, Mapping
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, SecretStr

from gateways.contract import Gateway

Config = Mapping[str, object]
Factory = Callable[[Config], Gateway]
"""What a gateway's module gives the registry. Raises ValueError (pydantic's included) for a
configuration that cannot be used."""

Mode = Literal["sandbox", "live"]
"""`sandbox` moves no real money, at the provider's test environment or at a simulator."""

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class ProviderConfig(BaseModel):
    """Base of the gateways' configurations. Secrets are values here; resolving them is the
    caller's."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    api_key: SecretStr
    allow_plain_http: bool = False


def checked_base_url(base_url: str, *, allow_plain_http: bool) -> str:
    """Return scheme, host and port. Plain HTTP is allowed to this machine only, unless
    `allow_plain_http` (simulators in other containers). Raises ValueError."""
    parts = urlsplit(base_url.rstrip("/"))
    if parts.username or parts.password:
        raise ValueError("the gateway's URL carries credentials")
    if not parts.hostname or parts.path or parts.query or parts.fragment:
        raise ValueError(f"the gateway's URL must be scheme, host and port only: {base_url!r}")
    plain = parts.scheme == "http" and (allow_plain_http or parts.hostname in _LOOPBACK)
    if parts.scheme != "https" and not plain:
        raise ValueError(f"the gateway's URL must be https: {base_url!r}")
    return base_url.rstrip("/")


def checked_secret(secret: str, provider: str) -> str:
    """Return a key that can go into a header. Raises ValueError, without the key."""
    if not secret or not secret.isascii() or not secret.isprintable() or secret != secret.strip():
        raise ValueError(f"the {provider} api key is empty or not printable ASCII")
    return secret


def check_mode(
    mode: Mode, *, api_key: str, prefixes: Mapping[Mode, tuple[str, ...]], base_url: str
) -> None:
    """Raise ValueError unless key and address are those of `mode`; the key is never shown.

    `prefixes`: how the provider's keys of each mode begin.
    """
    if not api_key.startswith(prefixes[mode]):
        raise ValueError(f"mode {mode!r} needs a key that begins with {prefixes[mode]!r}")
    if mode == "live" and urlsplit(base_url).scheme != "https":
        raise ValueError(f"mode 'live' goes over https only, not to {base_url!r}")
