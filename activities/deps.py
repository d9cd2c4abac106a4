"""What activities work with. Built by worker.py alone (habit 10: one place wires things
together)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from channels.transcription import Transcriber
from channels.whatsapp.media import WhatsAppMedia
from channels.whatsapp.sender import WhatsAppSender
from domain.pausing import PAUSE
from gateways.contract import Gateway
from gateways.registry import GatewayRegistry
from llm.client import ClaudeClient
from llm.prompt import load_prompt
from store.connection import Connection, Pool
from tools.registry import Registry

ReadSecret = Callable[[str], str]
"""The value of a named secret. Raises SettingsError if there is none."""


class NoGatewayError(LookupError):
    """The account has no gateway, yet a tool that needs one was called."""

    def __init__(self, account_id: str) -> None:
        super().__init__(f"account {account_id!r} has no gateway")


class Gateways:
    """Each account's gateway, built once from its configuration; secrets by reference."""

    def __init__(self, registry: GatewayRegistry, read_secret: ReadSecret) -> None:
        self._registry = registry
        self._read_secret = read_secret
        self._built: dict[tuple[str, str], Gateway] = {}

    async def of(self, connection: Connection, account_id: str) -> Gateway:
        """The account's gateway. Raises NoGatewayError, GatewayConfigError or SettingsError."""
        row = await connection.fetchrow(
            "SELECT gateway, gateway_config FROM accounts WHERE id = $1", account_id
        )
        if row is None or row["gateway"] is None:
            raise NoGatewayError(account_id)
        key = (row["gateway"], repr(sorted(row["gateway_config"].items())))
        if key not in self._built:
            config = resolve_secrets(row["gateway_config"], self._read_secret)
            self._built[key] = self._registry.build(row["gateway"], config)
        return self._built[key]

    async def aclose(self) -> None:
        """Close every gateway that was built."""
        for gateway in self._built.values():
            await gateway.aclose()


def resolve_secrets(config: Mapping[str, Any], read_secret: ReadSecret) -> dict[str, Any]:
    """The configuration with each `{"secret": NAME}` replaced by the secret's value."""
    return {
        key: read_secret(value["secret"])
        if isinstance(value, dict) and set(value) == {"secret"}
        else value
        for key, value in config.items()
    }


@dataclass(frozen=True, kw_only=True)
class Hearing:
    """How voice messages become words."""

    media: WhatsAppMedia
    transcriber: Transcriber


@dataclass(frozen=True, kw_only=True)
class Deps:
    """The clients of a worker process and the tools that it serves. `pause`: how long the agent is
    quiet for a human who took over. `replace_claims`: a reply that claims what the ledger does not
    know is replaced by the true state."""

    pool: Pool
    registry: Registry
    claude: ClaudeClient
    whatsapp: WhatsAppSender
    gateways: Gateways
    hearing: Hearing | None = None
    replace_claims: bool = False
    pause: timedelta = PAUSE
    prompt_folder: Path | None = None
    prompts: dict[tuple[str, str], str] = field(default_factory=dict)

    def prompt(self, file: str | None, *, language: str) -> str:
        """The system prompt of an account: its own file, else the shipped one in its language; read
        once. Raises OperatorError for a bad file."""
        name = (file or "", language)
        if name not in self.prompts:
            path = (self.prompt_folder or Path()) / file if file else None
            self.prompts[name] = load_prompt(path, language=language)
        return self.prompts[name]
