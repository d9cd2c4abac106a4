"""Asaas is built by name, and a mode that is not the key's or the address's does not start."""

from collections.abc import Mapping

import pytest

from gateways.registry import GatewayConfigError, GatewayRegistry

GOOD = {"api_key": "$aact_hmlg_secret", "mode": "sandbox", "recipient_id": "loja@x.example"}


def test_asaas_is_built_by_name_and_knows_its_own_addresses() -> None:
    """No address given: the mode's own."""
    assert GatewayRegistry().build("asaas", GOOD).name == "asaas"
    live = {**GOOD, "mode": "live", "api_key": "$aact_prod_secret"}
    assert GatewayRegistry().build("asaas", live).name == "asaas"
    with_token = {**GOOD, "withdrawal_token": "t"}
    assert GatewayRegistry().build("asaas", with_token).name == "asaas"


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "live"},
        {"api_key": "$aact_prod_secret"},
        {"base_url": "https://api.asaas.com"},
        {"mode": "live", "api_key": "secret", "base_url": "https://api-sandbox.asaas.com"},
        {"mode": "live", "api_key": "secret", "base_url": "http://127.0.0.1:1"},
        {"mode": None},
        {"recipient_id": "no key"},
        {"recipient_id": "999"},
        {"time_zone": "Nowhere/None"},
        {"time_zone": "../etc"},
        {"api_key": "secret\n"},
        {"surprise": "secret"},
    ],
)
def test_a_wrong_configuration_is_refused_without_its_secret(changes: Mapping[str, object]) -> None:
    """Keys and addresses known to be those of the other mode stop the start."""
    with pytest.raises(GatewayConfigError) as error:
        GatewayRegistry().build("asaas", {**GOOD, **changes})
    assert "secret" not in str(error.value)
