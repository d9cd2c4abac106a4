"""Settings from the environment: frozen, checked at start, read by worker.py, api/ and cli/ only.

A value that is missing, still a placeholder, or contradicts another is refused with its name: a
system that moves money must not run half configured. Temporal's own settings are the standard ones
(`TEMPORAL_*`, temporal.toml), so that Cloud and self-hosted work alike.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from domain.errors import SettingsError
from domain.pausing import MOST_PAUSE, PAUSE, in_hours

META_HOST = "graph.facebook.com"
_PLACEHOLDER = re.compile(
    r"^(changeme|change-me|todo|xxx+|\.\.\.|<.*>|your[-_ ].*|replace[-_ ]?me.*|example)$", re.I
)


def _words(value: object) -> object:
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return value


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)]


class Settings(BaseSettings):
    """Everything that Aval reads from its environment, besides Temporal's own settings."""

    model_config = SettingsConfigDict(
        env_prefix="AVAL_", frozen=True, extra="ignore", hide_input_in_errors=True
    )

    database_url: SecretStr
    deployment: str = Field(min_length=1, max_length=100)

    whatsapp_token: SecretStr
    whatsapp_app_secret: SecretStr
    """One, or two separated by a comma while a secret is rotated."""
    whatsapp_verify_token: SecretStr
    whatsapp_base_url: str = f"https://{META_HOST}"
    whatsapp_version: str = Field(default="v26.0", pattern=r"^v\d{2}\.0$")

    anthropic_api_key: SecretStr = Field(validation_alias="ANTHROPIC_API_KEY")
    anthropic_base_url: str | None = Field(default=None, validation_alias="ANTHROPIC_BASE_URL")
    model: str = "claude-haiku-5-5"

    replace_claims: bool = False
    """Whether a reply that claims what the ledger does not know is replaced by the true state."""

    tools: Words = ("tools.scheduling", "tools.customers", "tools.payments", "tools.handover")
    path: Path | None = None
    """A folder in which the operator's own tool packages are found."""
    prompts: Path | None = None
    """The folder of the accounts' own prompt files."""

    pause_hours: int = Field(default=in_hours(PAUSE), ge=1, le=in_hours(MOST_PAUSE))
    """How long the agent is quiet in a conversation that a human took over."""

    transcribe_url: str | None = None
    """Where voice messages are transcribed (OpenAI-compatible, without `/v1`); none: nowhere."""
    transcribe_key: SecretStr | None = None
    transcribe_model: str = "whisper-1"

    api_host: str = "127.0.0.1"
    api_port: int = Field(default=8080, ge=1, le=65535)
    pool_size: int = Field(default=10, ge=2, le=200)
    alert_url: SecretStr | None = None
    """Where alerts are posted. Secret: such addresses carry a token. Blank means none."""
    metrics_host: str = "127.0.0.1"
    metrics_port: int = Field(default=0, ge=0, le=65535)
    """Where `/metrics` is served; 0 for nowhere."""
    log_level: str = Field(default="INFO", pattern=r"^(DEBUG|INFO|WARNING|ERROR)$")

    @field_validator("alert_url", "transcribe_url", "transcribe_key", mode="before")
    @classmethod
    def _blank_is_none(cls, value: Any) -> Any:
        return None if isinstance(value, str) and not value.strip() else value

    @field_validator("*", mode="after")
    @classmethod
    def _no_placeholder(cls, value: Any) -> Any:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if isinstance(value, SecretStr) and not str(text).strip():
            raise ValueError("is empty")
        if isinstance(text, str) and _PLACEHOLDER.match(text.strip()):
            raise ValueError("is still a placeholder")
        return value

    @field_validator("database_url", mode="after")
    @classmethod
    def _is_postgres(cls, value: SecretStr) -> SecretStr:
        if urlsplit(value.get_secret_value()).scheme not in {"postgres", "postgresql"}:
            raise ValueError("must begin with postgresql://")
        return value

    @field_validator("whatsapp_base_url", "anthropic_base_url", "transcribe_url", mode="after")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and urlsplit(value).scheme not in {"http", "https"}:
            raise ValueError("must begin with http:// or https://")
        return value

    @field_validator("alert_url", mode="after")
    @classmethod
    def _is_http_with_a_host(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            parts = urlsplit(value.get_secret_value())
            if parts.scheme not in {"http", "https"} or not parts.hostname:
                raise ValueError("must be http://HOST/... or https://HOST/...")
        return value

    @property
    def alert_address(self) -> str | None:
        """Where alerts are posted, or None."""
        return self.alert_url.get_secret_value() if self.alert_url is not None else None

    @property
    def app_secrets(self) -> tuple[str, ...]:
        """The secrets that Meta may sign with now."""
        parts = self.whatsapp_app_secret.get_secret_value().split(",")
        return tuple(part.strip() for part in parts if part.strip())

    @property
    def channel_is_simulated(self) -> bool:
        """Whether messages go anywhere but to Meta."""
        return urlsplit(self.whatsapp_base_url).hostname != META_HOST


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process. Raises SettingsError that names each bad setting.

    `environment` replaces the process's for tests and for `aval up`.
    """
    if environment is not None:
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(environment)
        try:
            return load()
        finally:
            os.environ.clear()
            os.environ.update(before)
    try:
        loaded = Settings()
    except ValidationError as error:
        problems = "; ".join(
            f"{_env_name(str(part['loc'][0]))}: {_reason(part['type'], part['msg'])}"
            for part in error.errors(include_input=False, include_url=False)
        )
        raise SettingsError(f"settings: {problems} (see .env.example)") from None
    _check_together(loaded)
    return loaded


def _env_name(field: str) -> str:
    return field if field.isupper() else f"AVAL_{field.upper()}"


def _reason(kind: str, message: str) -> str:
    return "is missing" if kind == "missing" else message.removeprefix("Value error, ")


def _check_together(settings: Settings) -> None:
    plain = urlsplit(settings.whatsapp_base_url)
    if not settings.channel_is_simulated and plain.scheme != "https":
        raise SettingsError("AVAL_WHATSAPP_BASE_URL: Meta is reached by https only")
    if settings.whatsapp_app_secret.get_secret_value() == (
        settings.whatsapp_verify_token.get_secret_value()
    ):
        raise SettingsError(
            "AVAL_WHATSAPP_VERIFY_TOKEN and AVAL_WHATSAPP_APP_SECRET must not be equal: the verify "
            "token travels in a URL"
        )


def read_secret(name: str) -> str:
    """A secret that an account's configuration names, from the environment or from the file that
    `<name>_FILE` points to. Raises SettingsError if there is none or the name is not AVAL_*."""
    if not re.fullmatch(r"AVAL_[A-Z0-9_]{1,80}", name):
        raise SettingsError(f"secret {name!r}: only names AVAL_* may be read for an account")
    if file := os.environ.get(f"{name}_FILE"):
        return Path(file).read_text(encoding="utf-8").strip()
    value = os.environ.get(name, "").strip()
    if not value or _PLACEHOLDER.match(value):
        raise SettingsError(f"secret {name!r} is not set, or still a placeholder")
    return value
