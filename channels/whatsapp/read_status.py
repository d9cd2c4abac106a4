"""One entry of `statuses` to news about a message of ours, or to a stored item if it is none.

The trap: a `failed` status may come without contacts and without a user id, and its error is told
once and can never be fetched again.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from channels.whatsapp.items import quarantined, quoted, read_time, stored_only, usable_id
from channels.whatsapp.jsontext import dump, storable
from channels.whatsapp.people import identify
from channels.whatsapp.read_message import shape_reason, unusable_text
from channels.whatsapp.wire import WireStatus
from domain.inbound import DeliveryStatus, InboundItem, InboundKind, Sender, StatusUpdate

_KNOWN = frozenset(status.value for status in DeliveryStatus)


def read_status(
    value: object, *, phone_number_id: str | None, contacts: Sequence[Sender]
) -> StatusUpdate | InboundItem:
    """The update; UNKNOWN for a status we do not know, QUARANTINED for an unreadable one.

    Raises `RecursionError` if `value` is nested too deeply for Python.
    """

    def bad(reason: str) -> InboundItem:
        return quarantined(value, reason, phone_number_id=phone_number_id, by_id=False)

    if not isinstance(value, dict):
        return bad("status is no object")
    try:
        wire = WireStatus.model_validate(value)
    except ValidationError as error:
        return bad(shape_reason(error))
    if wire.status not in _KNOWN:
        return stored_only(
            value,
            InboundKind.UNKNOWN,
            phone_number_id=phone_number_id,
            reason=f"status {quoted(wire.status)}",
        )
    return _update(value, wire, phone_number_id, contacts) or bad(_why_not(wire))


def _update(
    value: dict[str, object],
    wire: WireStatus,
    phone_number_id: str | None,
    contacts: Sequence[Sender],
) -> StatusUpdate | None:
    wamid, (at, _) = usable_id(wire.id), read_time(wire.timestamp)
    if wamid is None or at is None:
        return None
    person = _recipient(wire, contacts)
    error = wire.errors[0] if wire.errors else None
    title = (error.title or error.message) if error else None
    update = StatusUpdate(
        phone_number_id=phone_number_id,
        wamid=wamid,
        status=DeliveryStatus(str(wire.status)),
        at=at,
        callback_data=wire.biz_opaque_callback_data,
        error_code=error.code if error else None,
        error_title=title if title and storable(title) else None,
        recipient_user_id=person.user_id if person else None,
        recipient_wa_id=person.wa_id if person else None,
        raw=dump(value),
    )
    return None if unusable_text(update, free=frozenset({"error_title"})) else update


def _why_not(wire: WireStatus) -> str:
    if usable_id(wire.id) is None:
        return "status without a usable id"
    if read_time(wire.timestamp)[0] is None:
        return "status without a readable timestamp"
    return "status with a text that cannot be stored"


def _recipient(wire: WireStatus, contacts: Sequence[Sender]) -> Sender | None:
    if wire.recipient_type == "group":
        return identify(
            from_field=wire.recipient_participant_id,
            user_id=wire.recipient_participant_user_id,
            contacts=contacts,
        )
    return identify(from_field=wire.recipient_id, user_id=wire.recipient_user_id, contacts=contacts)
