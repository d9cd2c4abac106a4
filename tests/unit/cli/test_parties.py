"""Credentials alone decide what is real, and a simulated channel never stands beside real money."""

import pytest

from cli.stack.errors import StackError
from cli.stack.parties import Parties


def test_without_credentials_everything_is_simulated() -> None:
    """A fresh clone reaches nobody."""
    parties = Parties.from_environment({"ANTHROPIC_API_KEY": " ", "AVAL_WHATSAPP_TOKEN": ""})
    assert all(vars(parties).values())


def test_a_simulated_channel_beside_a_real_gateway_is_refused() -> None:
    """Whoever reaches the phone page could confirm with real money."""
    with pytest.raises(StackError, match=r"AVAL_PAGARME_API_KEY.*AVAL_WHATSAPP_TOKEN"):
        Parties.from_environment({"AVAL_PAGARME_API_KEY": "sk_live"})
    both = {"AVAL_PAGARME_API_KEY": "sk_live", "AVAL_WHATSAPP_TOKEN": "token"}
    assert not Parties.from_environment(both).payments


def test_each_party_is_called_real_or_simulated_with_the_setting_that_decides() -> None:
    """The words of `aval up` follow from the same facts that decide."""
    told = dict(Parties.from_environment({"ANTHROPIC_API_KEY": "sk"}).describe())
    assert told["Claude"] == "REAL (ANTHROPIC_API_KEY is set)"
    assert told["WhatsApp"] == "simulated (AVAL_WHATSAPP_TOKEN is not set)"
