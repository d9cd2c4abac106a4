"""Rendering a provider request from what was frozen, with the provider's own limits as questions.

A provider takes shorter names or nearer dates than we do. That shows when the request is rendered,
which is still the proposal: so it goes back to the model like any other input error.
"""

from collections.abc import Callable

from domain.errors import ToolInputError
from domain.outcomes import ProviderRequest
from gateways.contract import Gateway, RenderError

Render = Callable[[Gateway, str], ProviderRequest]


def asking_back(render: Render) -> Render:
    """Return `render` with RenderError turned into ToolInputError."""

    def rendered(gateway: Gateway, key: str) -> ProviderRequest:
        try:
            return render(gateway, key)
        except RenderError as error:
            raise ToolInputError(f"the payment provider cannot take this: {error}") from error

    return rendered


def text_or_empty(value: object) -> str:
    """Return a text of the provider's answer, or an empty one, so that the rest is not lost."""
    return value if isinstance(value, str) else ""
