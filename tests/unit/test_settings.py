"""Settings refuse to start on a missing, placeholder or contradictory value, and name it."""

import pytest

import settings
from domain.errors import SettingsError

GOOD = {
    "AVAL_DATABASE_URL": "postgresql://aval@localhost/aval",
    "AVAL_DEPLOYMENT": "test",
    "AVAL_WHATSAPP_TOKEN": "token-1",
    "AVAL_WHATSAPP_APP_SECRET": "secret-1",
    "AVAL_WHATSAPP_VERIFY_TOKEN": "verify-1",
    "ANTHROPIC_API_KEY": "key-1",
}


def test_good_settings_load_and_are_frozen() -> None:
    """The required values are enough; nothing can be changed afterwards."""
    loaded = settings.load(GOOD)
    assert loaded.model == "claude-haiku-5-5"
    assert not loaded.channel_is_simulated
    with pytest.raises(Exception, match="frozen"):
        loaded.deployment = "other"  # type: ignore[misc]  # the point of the test


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_missing_value_is_named(name: str) -> None:
    """Each required setting is named when it is missing."""
    environment = {key: value for key, value in GOOD.items() if key != name}
    with pytest.raises(SettingsError, match=f"{name}: is missing"):
        settings.load(environment)


@pytest.mark.parametrize("value", ["changeme", "<your token>", "your-token", "...", "xxxx", "TODO"])
def test_a_placeholder_is_named(value: str) -> None:
    """A value that was copied from an example is refused with its name, and not quoted."""
    with pytest.raises(SettingsError, match="AVAL_WHATSAPP_TOKEN: is still a placeholder"):
        settings.load({**GOOD, "AVAL_WHATSAPP_TOKEN": value})


def test_an_empty_secret_is_refused() -> None:
    """No app secret, no start: an empty one would verify anything."""
    with pytest.raises(SettingsError, match="AVAL_WHATSAPP_APP_SECRET: is empty"):
        settings.load({**GOOD, "AVAL_WHATSAPP_APP_SECRET": "  "})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AVAL_DATABASE_URL", "mysql://localhost/aval"),
        ("AVAL_WHATSAPP_VERSION", "26"),
        ("AVAL_WHATSAPP_BASE_URL", "ftp://graph.facebook.com"),
        ("AVAL_API_PORT", "99999"),
        ("AVAL_LOG_LEVEL", "LOUD"),
        ("ANTHROPIC_BASE_URL", "localhost:8102"),
        ("AVAL_ALERT_URL", "hooks.example/services/token"),
        ("AVAL_ALERT_URL", "https:///services/token"),
        ("AVAL_METRICS_PORT", "-1"),
    ],
)
def test_a_value_of_the_wrong_form_is_named(name: str, value: str) -> None:
    """Each wrong value is refused with the setting's name."""
    with pytest.raises(SettingsError, match=name):
        settings.load({**GOOD, name: value})


def test_contradictions_are_named() -> None:
    """Meta over plain http; one secret for two purposes: refused, both settings named."""
    with pytest.raises(SettingsError, match="https only"):
        settings.load({**GOOD, "AVAL_WHATSAPP_BASE_URL": "http://graph.facebook.com"})
    with pytest.raises(SettingsError, match="AVAL_WHATSAPP_VERIFY_TOKEN and AVAL_WHATSAPP_APP_S"):
        settings.load({**GOOD, "AVAL_WHATSAPP_VERIFY_TOKEN": "secret-1"})


def test_no_secret_shows_in_a_message_or_a_print() -> None:
    """Neither the representation nor an error quotes a secret."""
    loaded = settings.load(GOOD)
    assert "secret-1" not in repr(loaded)
    with pytest.raises(SettingsError) as caught:
        settings.load({**GOOD, "AVAL_DATABASE_URL": "mysql://user:hunter2@localhost/aval"})
    assert "hunter2" not in str(caught.value)


def test_the_address_of_alerts_is_a_secret_and_blank_means_none() -> None:
    """It carries a token; Compose hands a variable that is not set on as an empty one."""
    address = "https://hooks.example/services/T0/secret-9"
    loaded = settings.load({**GOOD, "AVAL_ALERT_URL": address})
    assert loaded.alert_address == address
    assert "secret-9" not in repr(loaded)
    assert settings.load({**GOOD, "AVAL_ALERT_URL": " "}).alert_address is None
    with pytest.raises(SettingsError) as caught:
        settings.load({**GOOD, "AVAL_ALERT_URL": "hooks.example/secret-9"})
    assert "secret-9" not in str(caught.value)


def test_two_app_secrets_while_one_is_rotated() -> None:
    """Two secrets separated by a comma are both in force."""
    loaded = settings.load({**GOOD, "AVAL_WHATSAPP_APP_SECRET": "old , new"})
    assert loaded.app_secrets == ("old", "new")


def test_an_accounts_secret_is_read_by_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only AVAL_* names may be read for an account, so that none can ask for another's secret."""
    monkeypatch.setenv("AVAL_PAGARME_API_KEY", "sk-1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-1")
    assert settings.read_secret("AVAL_PAGARME_API_KEY") == "sk-1"
    with pytest.raises(SettingsError, match="only names AVAL_"):
        settings.read_secret("ANTHROPIC_API_KEY")
    with pytest.raises(SettingsError, match="'AVAL_OTHER' is not set"):
        settings.read_secret("AVAL_OTHER")
