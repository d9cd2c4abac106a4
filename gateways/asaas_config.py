"""Asaas' configuration, and how the registry builds it."""

from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import SecretStr

from gateways.asaas import AsaasGateway
from gateways.config import Config, Mode, ProviderConfig
from gateways.contract import Gateway

BASE_URLS: dict[Mode, str] = {
    "sandbox": "https://api-sandbox.asaas.com",
    "live": "https://api.asaas.com",
}
_KEY_OF_OTHER: dict[Mode, str] = {"sandbox": "$aact_prod_", "live": "$aact_hmlg_"}
"""How keys of the other mode begin: known ones are refused, unknown ones not taken for proof."""


class AsaasConfig(ProviderConfig):
    """Configuration of `asaas`."""

    base_url: str | None = None
    """None: Asaas' own address for the mode."""
    mode: Mode
    recipient_id: str
    """The Pix key that transfers go to."""
    time_zone: str = "America/Sao_Paulo"
    """In which zone a charge's due day is one."""
    withdrawal_token: SecretStr | None = None
    """What Asaas shows when it asks whether a withdrawal is ours; read by the API."""


def build(config: Config) -> Gateway:
    """Return an Asaas gateway. Raises ValueError for a configuration that cannot be used."""
    checked = AsaasConfig.model_validate(dict(config))
    base_url = checked.base_url or BASE_URLS[checked.mode]
    _check_mode(checked, base_url)
    try:
        ZoneInfo(checked.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"time_zone {checked.time_zone!r} is none") from None
    return AsaasGateway(
        base_url=base_url,
        api_key=checked.api_key.get_secret_value(),
        pix_key=checked.recipient_id,
        mode=checked.mode,
        time_zone=checked.time_zone,
        allow_plain_http=checked.allow_plain_http,
    )


def _check_mode(checked: AsaasConfig, base_url: str) -> None:
    """Raise ValueError where key or address are known to be those of the other mode."""
    mode = checked.mode
    other: Mode = "live" if mode == "sandbox" else "sandbox"
    if checked.api_key.get_secret_value().startswith(_KEY_OF_OTHER[mode]):
        raise ValueError(f"mode {mode!r}, but the key is one of {other!r}")
    parts = urlsplit(base_url)
    if parts.hostname == urlsplit(BASE_URLS[other]).hostname:
        raise ValueError(f"mode {mode!r}, but {base_url!r} is the address of {other!r}")
    if mode == "live" and parts.scheme != "https":
        raise ValueError(f"mode 'live' goes over https only, not to {base_url!r}")
