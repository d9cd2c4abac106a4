"""Bodies of the admin API. Unknown keys are refused, so that a typing slip is not a no-op."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from simulators.whatsapp.batches import Order
from simulators.whatsapp.courier import HoldKind
from simulators.whatsapp.envelopes import Cut
from simulators.whatsapp.models import ChatMessage, StatusName


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SendText(_Body):
    """A person writes. `timestamp`: Unix seconds, now if not given."""

    person: str
    text: str
    reply_to: str | None = None
    forwarded: bool = False
    timestamp: int | None = None
    wait: bool = True


class Press(_Body):
    """A person presses a button: by `button_id`, or `which` of a prompt (the latest if none).

    A foreign or unknown button id may be pressed too; `times` makes as many messages.
    """

    person: str
    button_id: str | None = None
    which: Literal["confirm", "cancel"] | None = None
    prompt: str | None = None
    title: str | None = None
    times: int = Field(default=1, ge=1, le=1000)
    concurrent: bool = False
    with_context: bool = True
    timestamp: int | None = None
    wait: bool = True


class RawMessage(_Body):
    """Any message object as a person; keys not given get the usual head."""

    person: str
    message: dict[str, Any]
    with_contact: bool = True
    wait: bool = True


class PutMedia(_Body):
    """A file that a message may name; `sha256` only to lie about it."""

    id: str
    data_base64: str
    mime_type: str = "audio/ogg"
    sha256: str | None = None


class RawBody(_Body):
    """A whole webhook body: `body` as JSON (escaped as Meta does) or `text` byte for byte.

    `signature`: none = a right one, "" = no header, anything else is sent as it is.
    """

    body: Any = None
    text: str | None = None
    signature: str | None = None


class Redeliver(_Body):
    """Deliver a webhook again: that of `wamid`, else the last one of `kind` (and `person`)."""

    wamid: str | None = None
    kind: Literal["message", "status", "any"] = "message"
    person: str | None = None
    times: int = Field(default=1, ge=1, le=1000)
    concurrent: bool = False


class Hold(_Body):
    """Which webhooks to keep back."""

    kind: HoldKind = "all"


class BatchStart(_Body):
    """Collect messages from now on, statuses too if asked."""

    with_statuses: bool = False


class BatchAdd(_Body):
    """Add any object (junk too) to the batch."""

    kind: Literal["messages", "statuses"] = "messages"
    payload: Any
    contact: dict[str, Any] | None = None


class BatchDeliver(_Body):
    """Deliver what was collected. `keep`: collecting ends, the items can be delivered again."""

    cut: Cut = "one_value"
    order: Order = "as_sent"
    copies: int = Field(default=1, ge=1, le=100)
    seed: int = 0
    keep: bool = False


class StatusNow(_Body):
    """Send one status of a business message at once, whatever came before."""

    wamid: str
    status: StatusName
    error_code: int | None = None
    timestamp: int | None = None


class Verify(_Body):
    """Do Meta's GET handshake with this token."""

    verify_token: str
    mode: str = "subscribe"


class Settings(_Body):
    """What may change in a running simulator."""

    webhook_url: str | None = None


class Sent(BaseModel):
    """Messages that a person sent, and the first answer to each webhook (none: not answered)."""

    messages: list[ChatMessage]
    status_codes: list[int | None] = Field(default_factory=list)

    @property
    def wamid(self) -> str:
        """The first message's id."""
        return self.messages[0].wamid


class StatusCodes(BaseModel):
    """Answers of the product to webhooks, in order; none where no answer came."""

    status_codes: list[int | None]


class Verified(BaseModel):
    """Outcome of the GET handshake: `matched` if 200 and exactly the challenge came back."""

    status_code: int
    content_type: str
    matched: bool


class Info(BaseModel):
    """What a caller may show: addresses, number, persons. The secret only for its holder."""

    phone_number_id: str
    display_phone_number: str
    webhook_url: str
    phone_path: str
    persons: list[dict[str, Any]]
    undelivered: int
    held: int


class Waited(BaseModel):
    """Outcome of a wait: the messages that match, enough of them or not."""

    matched: bool
    messages: list[ChatMessage] = Field(default_factory=list)


class WaitQuery(_Body):
    """Wait until `count` messages of a chat match all that is given; at most 120 s.

    `contains` is looked for in the text, `after_seq` is exclusive.
    """

    person: str
    author: Literal["person", "business"] = "business"
    contains: str | None = None
    type: str | None = None
    callback_prefix: str | None = None
    status: str | None = None
    after_seq: int = 0
    count: int = Field(default=1, ge=1)
    timeout_seconds: float = Field(default=10.0, ge=0, le=120)
