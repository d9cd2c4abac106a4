"""Meta's shapes as they arrive: everything optional, unknown keys allowed.

Only what Aval reads is named. `timestamp` is `object` on purpose: an unreadable one is a flag on
the item, not a reason to lose it.
Source: Meta's webhook reference (messages, status, system, business-scoped user ids).
"""

from pydantic import BaseModel, ConfigDict, Field


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")


class WireError(_Wire):
    """An entry of any `errors` list."""

    code: int | None = None
    title: str | None = None
    message: str | None = None


class WireProfile(_Wire):
    """How a person calls himself."""

    name: str | None = None
    username: str | None = None


class WireContact(_Wire):
    """An entry of `contacts`: may hold only a phone, only a user id, no profile."""

    wa_id: str | None = None
    user_id: str | None = None
    profile: WireProfile | None = None


class WireContext(_Wire):
    """What a message answers, or that it was forwarded (then without an id)."""

    id: str | None = None
    forwarded: bool | None = None
    frequently_forwarded: bool | None = None


class WireText(_Wire):
    """`text`."""

    body: str | None = None


class WireReply(_Wire):
    """`button_reply` and `list_reply`."""

    id: str | None = None
    title: str | None = None


class WireInteractive(_Wire):
    """`interactive`: `type` names which of the replies is there."""

    type: str | None = None
    button_reply: WireReply | None = None
    list_reply: WireReply | None = None
    nfm_reply: dict[str, object] | None = None


class WireTemplateButton(_Wire):
    """`button`: a template's quick reply; without a payload Meta repeats the label."""

    payload: str | None = None
    text: str | None = None


class WireMedia(_Wire):
    """audio, image, video, document, sticker."""

    id: str | None = None
    mime_type: str | None = None
    sha256: str | None = None
    caption: str | None = None
    filename: str | None = None
    voice: bool | None = None


class WireReaction(_Wire):
    """`reaction`: a missing or empty emoji takes the reaction back."""

    message_id: str | None = None
    emoji: str | None = None


class WireContent(_Wire):
    """The typed part of a message; an edit carries another one inside."""

    type: str | None = None
    text: WireText | None = None
    interactive: WireInteractive | None = None
    button: WireTemplateButton | None = None
    audio: WireMedia | None = None
    image: WireMedia | None = None
    video: WireMedia | None = None
    document: WireMedia | None = None
    sticker: WireMedia | None = None
    reaction: WireReaction | None = None


class WireEdit(_Wire):
    """`edit` (with the new content) and `revoke` (without)."""

    original_message_id: str | None = None
    message: WireContent | None = None


class WireSystem(_Wire):
    """`system`: a person's number or user id is another one now."""

    type: str | None = None
    wa_id: str | None = None
    new_wa_id: str | None = None
    user_id: str | None = None
    previous_user_id: str | None = None


class WireMessage(WireContent):
    """An entry of `messages`."""

    id: str | None = None
    from_: str | None = Field(default=None, alias="from")
    from_user_id: str | None = None
    group_id: str | None = None
    timestamp: object = None
    context: WireContext | None = None
    system: WireSystem | None = None
    identity: dict[str, object] | None = None
    edit: WireEdit | None = None
    revoke: WireEdit | None = None
    errors: list[WireError] | None = None


class WireStatus(_Wire):
    """An entry of `statuses`; for a group the person stands in the participant's fields."""

    id: str | None = None
    status: str | None = None
    timestamp: object = None
    recipient_type: str | None = None
    recipient_id: str | None = None
    recipient_user_id: str | None = None
    recipient_participant_id: str | None = None
    recipient_participant_user_id: str | None = None
    biz_opaque_callback_data: str | None = None
    errors: list[WireError] | None = None
