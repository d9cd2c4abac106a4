"""The simulator's own records: a chat message, an item of a webhook, plans and journal lines.

`author` says who wrote a message ("person" or "business"), since "in" and "out" mean
opposite things on the two ends of a wire.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Author = Literal["person", "business"]
StatusName = Literal["sent", "delivered", "read", "played", "failed"]


class Button(BaseModel):
    """One reply button of a prompt."""

    id: str
    title: str


class ChatMessage(BaseModel):
    """A message in one person's chat. `at` is UTC epoch seconds, `timestamp` as on the wire.

    `status` of a person's message: sending, received (webhook answered 200), read.
    `status` of the business's message: accepted, sent, delivered, read, failed.
    `visible` is false for a message whose plan makes it fail: the person never sees it.
    """

    seq: int
    wamid: str
    person: str
    author: Author
    type: str
    text: str = ""
    footer: str = ""
    buttons: list[Button] = Field(default_factory=list)
    button_id: str | None = None
    context_id: str | None = None
    callback_data: str | None = None
    at: float
    timestamp: str
    status: str
    visible: bool = True
    planned: bool = False
    to_user_id: bool = False
    payload: dict[str, Any] = Field(default_factory=dict)


class Item(BaseModel):
    """One element of `messages[]` or `statuses[]` with the contact that goes beside it."""

    kind: Literal["messages", "statuses"]
    payload: Any
    contact: dict[str, Any] | None = None


class StatusStep(BaseModel):
    """One status webhook of a plan: which, how long after the one before, how often."""

    model_config = ConfigDict(extra="forbid")

    status: StatusName
    delay_seconds: float = Field(default=0.0, ge=0)
    times: int = Field(default=1, ge=1, le=100)
    before_response: bool = False
    error_code: int | None = None


class Filter(BaseModel):
    """Which sends a plan applies to, and how many more (`times`; none = all)."""

    model_config = ConfigDict(extra="forbid")

    times: int | None = Field(default=1, ge=1)
    type: str | None = None
    callback_prefix: str | None = None
    person: str | None = None


class StatusPlan(Filter):
    """Statuses of the next accepted sends. No steps: every status is suppressed."""

    steps: list[StatusStep] = Field(default_factory=list)


FaultMode = Literal[
    "error",
    "refuse",
    "html",
    "accept_drop",
    "accept_delay",
    "accept_500",
    "accept_no_id",
    "accept_html",
]


class SendFault(Filter):
    """What happens to the next sends. `accept_*` modes store the message first.

    error: Graph error `code`, nothing accepted. refuse: connection closed, nothing accepted.
    html: a proxy's HTML page, nothing accepted. accept_drop: connection closed.
    accept_delay: the normal answer after `delay_seconds`. accept_500: Graph error `code` with
    HTTP 500. accept_no_id: 200 without `messages`. accept_html: HTML instead of JSON.
    """

    mode: FaultMode
    code: int = 131000
    http_status: int | None = Field(default=None, ge=200, le=599)
    delay_seconds: float = Field(default=0.0, ge=0)


class SendRecord(BaseModel):
    """Journal line: one POST to the messages endpoint, whatever became of it."""

    seq: int
    at: float
    kind: str
    body: Any
    accepted: bool
    person: str | None = None
    wamid: str | None = None
    fault: str | None = None
    error_code: int | None = None
    http_status: int | None = None


class WebhookRecord(BaseModel):
    """Journal line: one POST to the product's webhook. `status_code` none = no answer."""

    seq: int
    at: float
    delivery: str
    kind: str
    wamids: list[str]
    click: bool
    attempt: int
    status_code: int | None
    error: str | None = None
    seconds: float


class Counters(BaseModel):
    """Totals since the start or the last reset; they survive a restart with a state file."""

    presses: int = 0
    click_deliveries: int = 0
    webhook_posts: int = 0
    sends_received: int = 0
    sends_accepted: int = 0
    presses_by_button: dict[str, int] = Field(default_factory=dict)
    accepted_by_person: dict[str, int] = Field(default_factory=dict)
    prompts_by_person: dict[str, int] = Field(default_factory=dict)
