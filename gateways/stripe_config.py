"""Stripe's configuration, and how the registry builds it."""

from gateways.config import Config, Mode, ProviderConfig
from gateways.contract import Gateway
from gateways.stripe import StripeGateway


class StripeConfig(ProviderConfig):
    """Configuration of `stripe`."""

    base_url: str = "https://api.stripe.com"
    mode: Mode
    recipient_id: str
    """The bank account that payouts go to, `ba_…`."""


def build(config: Config) -> Gateway:
    """Return a Stripe gateway. Raises ValueError for a configuration that cannot be used."""
    checked = StripeConfig.model_validate(dict(config))
    return StripeGateway(
        base_url=checked.base_url,
        api_key=checked.api_key.get_secret_value(),
        bank_account=checked.recipient_id,
        mode=checked.mode,
        allow_plain_http=checked.allow_plain_http,
    )
