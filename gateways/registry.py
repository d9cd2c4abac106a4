"""Builds a gateway by its configured name.

Bundled providers stand here, one line each: a gateway `foo` is a set of modules `foo*.py` whose
`foo_config.build` checks the configuration and makes it. A user's own come from his own package
through `add`, without touching Aval. A name is never taken twice: a second module could otherwise
redirect money.
"""

from collections.abc import Mapping

from pydantic import ValidationError

from gateways import asaas_config, pagarme_config, pix_bcb_config, stripe_config
from gateways.config import Config, Factory
from gateways.contract import Gateway, GatewayError

_BUNDLED: Mapping[str, Factory] = {
    "asaas": asaas_config.build,
    "pagarme": pagarme_config.build,
    "pix_bcb": pix_bcb_config.build,
    "stripe": stripe_config.build,
}


class GatewayConfigError(GatewayError, ValueError):
    """A gateway's name or configuration cannot be used; the operator has to change it."""


class GatewayRegistry:
    """Names and how each is built."""

    def __init__(self) -> None:
        """Start with the bundled gateways."""
        self._factories: dict[str, Factory] = dict(_BUNDLED)

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
