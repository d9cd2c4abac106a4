"""Gateways are built by name, and misconfiguration does not start."""

from collections.abc import Mapping

import httpx
import pytest

from domain.outcomes import LookupResult, Outcome, Presence
from gateways.contract import Gateway, ReadFailedError
from gateways.pagarme import PagarmeGateway
from gateways.registry import GatewayConfigError, GatewayRegistry
from tests.unit.gateways.fakes import GATEWAY, charge_doc, gateway_answering

GOOD = {"base_url": "https://api.pagar.me", "api_key": "sk_secret", "recipient_id": "re_1"}


def always(answer: httpx.Response) -> PagarmeGateway:
    return gateway_answering(lambda _request: answer)


def test_pagarme_is_built_by_name() -> None:
    """The bundled name gives the bundled gateway."""
    gateway = GatewayRegistry().build("pagarme", GOOD)
    assert gateway.name == "pagarme"
    assert gateway.capabilities.key_retention is not None
    assert gateway.capabilities.resend_within < gateway.capabilities.key_retention


@pytest.mark.parametrize(
    "changes",
    [
        {"api_key": ""},
        {"api_key": "sk\n_secret"},
        {"base_url": "http://api.pagar.me"},
        {"base_url": "ftp://api.pagar.me"},
        {"base_url": "https://api.pagar.me/core"},
        {"base_url": "https://user:sk_secret@api.pagar.me"},
        {"base_url": ""},
        {"recipient_id": "../x"},
        {"recipient_id": None},
        {"surprise": "sk_secret"},
    ],
)
def test_a_wrong_configuration_is_refused_without_its_secret(
    changes: Mapping[str, object],
) -> None:
    """Plain HTTP to the outside, empty keys and unknown fields stop the start."""
    with pytest.raises(GatewayConfigError) as error:
        GatewayRegistry().build("pagarme", {**GOOD, **changes})
    assert "sk_secret" not in str(error.value)


def test_plain_http_elsewhere_needs_to_be_allowed() -> None:
    """A simulator in another container is reached over HTTP only if that is said."""
    config = {**GOOD, "base_url": "http://simulators:9000", "allow_plain_http": True}
    assert GatewayRegistry().build("pagarme", config).name == "pagarme"


def test_a_name_is_never_taken_twice() -> None:
    """A user's module adds a gateway but cannot replace one."""

    def mine(_config: Mapping[str, object]) -> Gateway:
        return GATEWAY

    registry = GatewayRegistry()
    registry.add("mine", mine)
    assert registry.build("mine", {}) is GATEWAY
    for name in ("mine", "pagarme"):
        with pytest.raises(GatewayConfigError):
            registry.add(name, mine)
    with pytest.raises(GatewayConfigError):
        registry.build("nobody", {})


def test_the_secret_is_in_no_repr() -> None:
    """A gateway in a log line or traceback shows no key."""
    gateway = GatewayRegistry().build("pagarme", GOOD)
    assert "sk_secret" not in repr(gateway) + repr(vars(gateway))


async def test_balance_is_read_in_cents() -> None:
    """An integer of cents, or an error; a float is none."""
    for amount, good in ((123, True), (1.5, False), (True, False), (None, False)):
        gateway = always(httpx.Response(200, json={"available_amount": amount}))
        if good:
            assert await gateway.balance() == 123
        else:
            with pytest.raises(ReadFailedError):
                await gateway.balance()


async def test_a_charge_is_read_or_unknown_or_failed() -> None:
    """404 in Pagar.me's shape is "no such charge"; a proxy's 404 is an error."""
    found = always(httpx.Response(200, json=charge_doc()))
    charge = await found.charge("ch_1")
    assert charge is not None
    assert (charge.amount_cents, charge.refunded_cents) == (15_000, 0)
    absent = always(httpx.Response(404, json={"message": "none"}))
    assert await absent.charge("ch_1") is None
    for answer in (
        httpx.Response(404, text="<html>"),
        httpx.Response(500),
        httpx.Response(200, json=charge_doc(id="ch_2")),
    ):
        with pytest.raises(ReadFailedError):
            await always(answer).charge("ch_1")


def test_outcome_words_are_the_shared_ones() -> None:
    """Stored values are the lower-case names."""
    assert [outcome.value for outcome in Outcome] == [
        "created",
        "rejected",
        "not_sent",
        "in_progress",
        "conflict",
        "unknown",
    ]
    assert [presence.value for presence in Presence] == ["found", "absent", "uncertain"]


@pytest.mark.parametrize(
    ("presence", "final", "equal", "differences"),
    [
        (Presence.ABSENT, False, True, []),
        (Presence.UNCERTAIN, False, True, []),
        (Presence.UNCERTAIN, True, False, []),
        (Presence.FOUND, True, True, ["amount"]),
    ],
)
def test_a_look_up_cannot_contradict_itself(
    presence: Presence, final: bool, equal: bool, differences: list[str]
) -> None:
    """Equal needs found without differences; uncertain is never final."""
    with pytest.raises(ValueError, match="validation error"):
        LookupResult(presence=presence, final=final, equal=equal, differences=differences)
