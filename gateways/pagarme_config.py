"""Pagar.me's configuration, and how the registry builds it."""

from gateways.config import Config, ProviderConfig
from gateways.contract import Gateway
from gateways.pagarme import PagarmeGateway


class PagarmeConfig(ProviderConfig):
    """Configuration of `pagarme`."""

    base_url: str = "https://api.pagar.me"
    recipient_id: str


def build(config: Config) -> Gateway:
    """Return a Pagar.me gateway. Raises ValueError for a configuration that cannot be used."""
    checked = PagarmeConfig.model_validate(dict(config))
    return PagarmeGateway(
        base_url=checked.base_url,
        api_key=checked.api_key.get_secret_value(),
        recipient_id=checked.recipient_id,
        allow_plain_http=checked.allow_plain_http,
    )
