"""What one run of the simulator is told: where the webhook lives, its secrets, its persons.

Secrets are kept out of `repr` so that no log line or assertion message shows them.
"""

import secrets

from pydantic import BaseModel, ConfigDict, Field


class Person(BaseModel):
    """Someone with a phone. A username holder has no `wa_id`, an old contact no `user_id`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    name: str = Field(min_length=1, max_length=120)
    wa_id: str | None = Field(default=None, pattern=r"^[0-9]{5,20}$")
    user_id: str | None = Field(default=None, max_length=140)
    username: str | None = None


DEMO_PERSONS: tuple[Person, ...] = (
    Person(id="maria", name="Maria Souza", wa_id="5511988880001", user_id="BR.1000000000000001"),
    Person(id="carlos", name="Carlos Lima", wa_id="5511988880002", user_id="BR.1000000000000002"),
    Person(id="ana", name="Ana (só usuário)", user_id="BR.1000000000000003"),
)


class SimulatorConfig(BaseModel):
    """Settings of one simulator.

    Durations are seconds. `retry_*` govern redelivery after anything but 200: at
    `retry_initial_seconds`, then growing by `retry_factor` up to `retry_max_seconds`, for
    `retry_total_seconds` in all (Meta: seven days; facts on webhook delivery).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    webhook_url: str
    app_secret: str = Field(min_length=1, repr=False)
    token: str = Field(min_length=1, repr=False)
    phone_number_id: str = "100200300400500"
    display_phone_number: str = "551140000000"
    waba_id: str = "200300400500600"
    page_secret: str = Field(
        default_factory=lambda: secrets.token_urlsafe(24), min_length=8, repr=False
    )
    state_file: str | None = None
    persons: tuple[Person, ...] = DEMO_PERSONS
    admin_from_anywhere: bool = False
    read_receipts: bool = True
    status_delay_seconds: float = Field(default=0.05, ge=0)
    webhook_timeout_seconds: float = Field(default=10.0, gt=0)
    retry_initial_seconds: float = Field(default=0.5, ge=0)
    retry_factor: float = Field(default=2.0, ge=1)
    retry_max_seconds: float = Field(default=30.0, gt=0)
    retry_total_seconds: float = Field(default=7 * 24 * 3600.0, gt=0)
