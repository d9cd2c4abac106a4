"""What the simulator can be told when it starts."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class ClaudeSimulatorConfig(BaseModel):
    """Frozen start-up choices.

    `key` is the one API key accepted; None accepts any that is not empty. `admin_secret` guards
    `/admin/*`; None closes those routes (fail closed). `state` is a file of JSON lines that the
    journal is written to and read back from. `latency_seconds` delays every answer.
    `journal_limit` is how many entries are kept in memory; the call counter goes on beyond it.
    `vary_repeats` gives a repeated prompt the same tool call in another order and formatting.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str | None = Field(default=None, min_length=1)
    admin_secret: str | None = Field(default=None, min_length=1)
    state: Path | None = None
    latency_seconds: float = Field(default=0.0, ge=0, le=600)
    journal_limit: int = Field(default=5000, ge=1)
    vary_repeats: bool = False
