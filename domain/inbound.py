"""What came in, whatever channel brought it.

The trap this closes: a channel's own shapes (optional phones, missing contexts, several meanings of
one field) leak into the rules. Everything past the parser reads these models only, and whatever
could not be read is an item of its own, never an exception and never a silent loss.
"""

import re
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

USER_ID_PATTERN = re.compile(r"[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]+", re.ASCII)
"""A business-scoped user id: country, a dot, `ENT.` for a parent id, then alphanumerics."""


def is_user_id(text: str) -> bool:
    """Whether `text` has the form of a business-scoped user id (`BR.123abc`, `BR.ENT.123`)."""
    return USER_ID_PATTERN.fullmatch(text) is not None


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Sender(_Frozen):
    """Who wrote: business-scoped user id first, phone second, both byte for byte as received."""

    user_id: str | None
    wa_id: str | None
    name: str | None

    @classmethod
    def classify(
        cls, *, from_field: str | None, user_id: str | None = None, name: str | None = None
    ) -> "Sender":
        """Sort the ids of a message; some senders put a user id into the phone's field.

        A user id that has its own field wins over one found in the phone's field, which is then
        dropped: it is no phone.
        """
        from_field, user_id = from_field or None, user_id or None
        if from_field is not None and is_user_id(from_field):
            return cls(user_id=user_id or from_field, wa_id=None, name=name)
        return cls(user_id=user_id, wa_id=from_field, name=name)

    @property
    def known(self) -> bool:
        """Whether anything identifies the sender."""
        return self.user_id is not None or self.wa_id is not None


class InboundKind(StrEnum):
    """What an item is. Only TEXT and the media kinds are input; only BUTTON may be a click."""

    TEXT = "text"
    BUTTON = "button"  # a reply button or a template's quick reply; `button_id` says whose
    LIST_REPLY = "list_reply"
    AUDIO = "audio"
    IMAGE = "image"
    VIDEO = "video"
    DOCUMENT = "document"
    STICKER = "sticker"
    LOCATION = "location"
    CONTACTS = "contacts"
    ORDER = "order"
    REACTION = "reaction"
    FLOW = "flow"
    UNSUPPORTED = "unsupported"  # the channel itself could not carry it
    EDITED = "edited"
    DELETED = "deleted"
    IDENTITY_CHANGED = "identity_changed"
    CALL = "call"
    ECHO = "echo"  # the business's own people wrote it in another app: never input
    STANDBY = "standby"  # another handler holds the conversation: never input
    ACCOUNT = "account"  # about the business account, its templates or settings
    QUARANTINED = "quarantined"  # known place, unreadable content; `reason` says why
    UNKNOWN = "unknown"  # well formed, but a kind we do not know


MEDIA_KINDS = frozenset(
    {
        InboundKind.AUDIO,
        InboundKind.IMAGE,
        InboundKind.VIDEO,
        InboundKind.DOCUMENT,
        InboundKind.STICKER,
    }
)

PERSON_KINDS = MEDIA_KINDS | {
    InboundKind.TEXT,
    InboundKind.BUTTON,
    InboundKind.LIST_REPLY,
    InboundKind.LOCATION,
    InboundKind.CONTACTS,
    InboundKind.ORDER,
    InboundKind.FLOW,
    InboundKind.UNSUPPORTED,
}
"""What a person does to be heard; edits, reactions, echoes and the rest never start anything."""

BESIDE_KINDS = frozenset(
    {
        InboundKind.REACTION,
        InboundKind.EDITED,
        InboundKind.DELETED,
        InboundKind.UNKNOWN,
        InboundKind.QUARANTINED,
    }
)
"""What a person does beside that: never answered, but a typed yes after it is none any more."""


class Media(_Frozen):
    """A file that came with a message: its handle at the channel, not its bytes."""

    id: str
    mime_type: str | None = None
    sha256: str | None = None
    filename: str | None = None
    voice: bool = False


class IdentityChange(_Frozen):
    """What a system message says about a person who became somebody else to us."""

    change: str
    """The channel's word: `user_changed_number`, `user_changed_user_id`,
    `customer_identity_changed`."""
    previous_user_id: str | None = None
    previous_wa_id: str | None = None
    new_user_id: str | None = None
    new_wa_id: str | None = None


class InboundItem(_Frozen):
    """One thing that came in, unique by (`phone_number_id`, `key`).

    `text` is what the person wrote or saw: body, caption, the pressed button's title, the emoji of
    a reaction, an edited message's new text. A title never decides; `button_id` does.
    `sent_at` is the channel's clock in UTC, None with `sent_at_invalid` if it was unreadable, None
    without the flag if there was none.
    `raw` is the item as canonical JSON, pure ASCII by escapes, so that it can be stored whatever
    the text held.
    """

    kind: InboundKind
    phone_number_id: str | None
    key: str
    sender: Sender | None = None
    sent_at: datetime | None = None
    sent_at_invalid: bool = False
    text: str | None = None
    button_id: str | None = None
    quoted_id: str | None = None
    target_id: str | None = None
    """The message that a reaction, an edit or a deletion is about."""
    forwarded: bool = False
    group_id: str | None = None
    recipient: Sender | None = None
    """Of an echo: to whom the business's own people wrote, as they dialled him."""
    media: Media | None = None
    identity: IdentityChange | None = None
    reason: str | None = None
    raw: bytes

    @property
    def from_person(self) -> bool:
        """Whether a known person said this to a known number of ours, alone and not in a group.

        Only such an item may reach a turn or be read as a click.
        """
        return self.kind in PERSON_KINDS and self._alone

    @property
    def beside(self) -> bool:
        """Whether the same did something that is no input."""
        return self.kind in BESIDE_KINDS and self._alone

    @property
    def _alone(self) -> bool:
        return (
            self.group_id is None
            and self.phone_number_id is not None
            and self.sender is not None
            and self.sender.known
        )


class DeliveryStatus(StrEnum):
    """How far a message of ours came. The order is not guaranteed and steps may be missing."""

    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    PLAYED = "played"
    FAILED = "failed"


class StatusUpdate(_Frozen):
    """News about a message of ours, unique by (`phone_number_id`, `wamid`, `status`, `at`).

    `at` is the channel's clock in UTC; `callback_data` is our own key, given with the send.
    """

    phone_number_id: str | None
    wamid: str
    status: DeliveryStatus
    at: datetime
    callback_data: str | None = None
    error_code: int | None = None
    error_title: str | None = None
    recipient_user_id: str | None = None
    recipient_wa_id: str | None = None
    raw: bytes


class Webhook(_Frozen):
    """All that one delivery held, in its order."""

    items: list[InboundItem]
    statuses: list[StatusUpdate]
