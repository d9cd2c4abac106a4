"""Builds a gateway by its configured name.

Bundled providers stand here; a user's own come from his own package through `add`, without
touching Aval. A name is never taken twice: a second module could otherwise redirect money.
"""

from collections.abc import Callable, Mapping

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from gateways.contract import Gateway, GatewayError
from gateways.pagarme import PagarmeGateway

Config = Mapping[str, object]
Factory = Callable[[Config], Gateway]


class GatewayConfigError(GatewayError, ValueError):
    """A gateway's name or configuration cannot be used; the operator has to change it."""


class PagarmeConfig(BaseModel):
    """Configuration of `pagarme`. The secret is a value here; resolving it is the caller's."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    base_url: str = "https://api.pagar.me"
    api_key: SecretStr
    recipient_id: str
    allow_plain_http: bool = False


def build_pagarme(config: Config) -> Gateway:
    """Return a Pagar.me gateway. Raises ValueError for a configuration that cannot be used."""
    checked = PagarmeConfig.model_validate(dict(config))
    return PagarmeGateway(
        base_url=checked.base_url,
        api_key=checked.api_key.get_secret_value(),
        recipient_id=checked.recipient_id,
        allow_plain_http=checked.allow_plain_http,
    )


class GatewayRegistry:
    """Names and how each is built."""

    def __init__(self) -> None:
        """Start with the bundled gateways."""
        self._factories: dict[str, Factory] = {"pagarme": build_pagarme}

    def add(self, name: str, factory: Factory) -> None:
        """Register a user's own gateway. Raises GatewayConfigError for a name already taken."""
        if name in self._factories:
            raise GatewayConfigError(f"gateway {name!r} is registered already")
        self._factories[name] = factory

    def names(self) -> list[str]:
        """Return the known names, sorted."""
        return sorted(self._factories)

    def build(self, name: str, config: Config) -> Gateway:
        """Return the gateway `name` built from `config`. Raises GatewayConfigError."""
        factory = self._factories.get(name)
        if factory is None:
            raise GatewayConfigError(f"no gateway {name!r}; known are {self.names()!r}")
        try:
            return factory(config)
        except ValidationError as error:
            fields = sorted(
                {
                    str(part["loc"][0]) if part["loc"] else "?"
                    for part in error.errors(include_input=False)
                }
            )
            raise GatewayConfigError(f"gateway {name!r}: check {fields!r}") from None
        except ValueError as error:
            raise GatewayConfigError(f"gateway {name!r}: {error}") from error
