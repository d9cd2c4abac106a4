"""What the payments simulator is started with."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class PaymentsSimulatorConfig(BaseModel):
    """Frozen settings of one simulated provider. Money in cents, times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    api_key: str = Field(min_length=1, repr=False)
    """The secret key, the same in every dialect; no key, no start."""
    admin_secret: str | None = Field(default=None, repr=False)
    """For the header X-Sim-Secret; without it the admin pages are closed."""
    state: Path | None = None
    """SQLite file that survives a kill; None keeps everything in memory."""
    recipient_id: str = "re_simulated"
    """Whose balance Pagar.me pays out."""
    bank_account_id: str = "ba_simulated"
    """Where Stripe pays out to."""
    pix_key: str = "loja@simulador.example"
    """The account's own Pix key (API Pix)."""
    opening_balance_cents: int = 100_000
    merchant_name: str = "LOJA SIMULADA"
    merchant_city: str = "SAO PAULO"
    public_url: str = "http://127.0.0.1"
    """Where people reach it: the links to QR images begin with it."""
    key_retention_seconds: float = 24 * 3600.0
    search_lag_seconds: float = 60.0
    """How far Stripe's search is behind; its lists are current."""
