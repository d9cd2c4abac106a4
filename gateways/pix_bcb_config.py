"""The API Pix's configuration, and how the registry builds it."""

from typing import Literal

from gateways.config import Config, Mode, ProviderConfig
from gateways.contract import Gateway
from gateways.pix_bcb import PixBcbGateway
from gateways.pix_bcb_profiles import PROFILES
from gateways.pix_bcb_tls import client_context


class PixBcbConfig(ProviderConfig):
    """Configuration of `pix_bcb`. `api_key` is the OAuth client's secret."""

    profile: Literal["efi"] = "efi"
    base_url: str | None = None
    """None: the bank's own address for the mode."""
    mode: Mode
    client_id: str
    pix_key: str
    """The account's Pix key, which charges are made out to and transfers leave from."""
    recipient_id: str
    """The Pix key that transfers go to."""
    certificate: str | None = None
    """PEM file with the client certificate; needed for https."""
    private_key: str | None = None
    """PEM file with its key, if that is not in the same file."""


def build(config: Config) -> Gateway:
    """Return a gateway for the API Pix. Raises ValueError for a configuration that cannot be
    used."""
    checked = PixBcbConfig.model_validate(dict(config))
    tls = None
    if checked.certificate is not None:
        tls = client_context(checked.certificate, checked.private_key)
    return PixBcbGateway(
        profile=PROFILES[checked.profile],
        mode=checked.mode,
        client_id=checked.client_id,
        client_secret=checked.api_key.get_secret_value(),
        pix_key=checked.pix_key,
        to_pix_key=checked.recipient_id,
        base_url=checked.base_url,
        allow_plain_http=checked.allow_plain_http,
        tls=tls,
    )
