"""One webhook body to all that it holds.

The traps: readers of index 0 lose every message but the first, a `KeyError` in one update loses its
neighbours, and an exception answers Meta with a batch that comes back for seven days. So the body
is cut into pieces first, each piece is read on its own, and whatever is not understood becomes an
item. Nothing here raises, whatever the bytes (source: Meta's webhook overview; public bug reports).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from channels.whatsapp.items import quarantined, quoted, stored_only, usable_id
from channels.whatsapp.jsontext import load, load_pruned
from channels.whatsapp.people import identify, read_contacts
from channels.whatsapp.read_echo import read_echo
from channels.whatsapp.read_message import read_message
from channels.whatsapp.read_status import read_status
from domain.inbound import InboundItem, InboundKind, Sender, StatusUpdate, Webhook

OBJECT = "whatsapp_business_account"

_ACCOUNT_FIELDS = frozenset(
    {"flows", "partner_solutions", "payment_configuration_update", "security"}
)
_ACCOUNT_PREFIXES = ("account_", "business_", "message_template_", "phone_number_", "template_")

_LISTS: dict[str, tuple[InboundKind, tuple[str, ...]]] = {
    "calls": (InboundKind.CALL, ("calls", "statuses")),
    "smb_message_echoes": (InboundKind.ECHO, ("message_echoes",)),
    "message_echoes": (InboundKind.ECHO, ("message_echoes",)),
    "standby": (InboundKind.STANDBY, ("messages", "message_echoes", "statuses", "standby")),
    "user_preferences": (InboundKind.ACCOUNT, ("user_preferences",)),
}
"""Fields other than `messages` whose value holds lists to take apart."""

_Read = Callable[[object], InboundItem | StatusUpdate]


@dataclass(frozen=True)
class _Piece:
    """What becomes one item or status, and how."""

    value: object
    phone_number_id: str | None
    read: _Read


def parse_webhook(body: bytes) -> Webhook:
    """Everything in `body`, in its order. Never raises: the unreadable is a QUARANTINED item.

    Nothing is deduplicated here; an item is unique by (`phone_number_id`, `key`) in the store.
    """
    try:
        return _read_all(load(body))
    except RecursionError:
        pruned = True  # too deep for Python's stack: read again, with the deep parts marked
    except ValueError:
        pruned = False
    if pruned:
        try:
            return _read_all(load_pruned(body))
        except ValueError:
            pass  # deep and broken; it ends below like any broken body
    text = body.decode("utf-8", "surrogateescape")
    return Webhook(items=[quarantined(text, "body is no JSON")], statuses=[])


def _read_all(root: object) -> Webhook:
    items: list[InboundItem] = []
    statuses: list[StatusUpdate] = []
    for piece in _pieces(root):
        result = _read_one(piece)
        if isinstance(result, StatusUpdate):
            statuses.append(result)
        else:
            items.append(result)
    return Webhook(items=items, statuses=statuses)


def _read_one(piece: _Piece) -> InboundItem | StatusUpdate:
    try:
        return piece.read(piece.value)
    except RecursionError:
        raise
    except Exception as error:  # a fault of ours must not cost the neighbours their messages
        return quarantined(
            piece.value,
            f"fault in the parser: {type(error).__name__}",
            phone_number_id=piece.phone_number_id,
            by_id=False,
        )


def _pieces(root: object) -> Iterator[_Piece]:
    if not isinstance(root, dict) or root.get("object") != OBJECT:
        yield _bad(root, f"body is no {OBJECT} object")
        return
    entries = root.get("entry")
    if not isinstance(entries, list):
        yield _bad(root, "body without a list of entries")
        return
    for entry in entries:
        changes = entry.get("changes") if isinstance(entry, dict) else None
        if not isinstance(changes, list):
            yield _bad(entry, "entry without a list of changes")
            continue
        for change in changes:
            yield from _change({**entry, "changes": [change]}, change)


def _change(whole: dict[str, object], change: object) -> Iterator[_Piece]:
    """The pieces of one change; `whole` is its entry cut down to it, with Meta's id and time."""
    value = change.get("value") if isinstance(change, dict) else None
    if not isinstance(change, dict) or not isinstance(value, dict):
        yield _bad(whole, "change without a value object")
        return
    field = change.get("field")
    number = _number(value)
    contacts = read_contacts(value.get("contacts"))
    if field == "messages":
        yield from _messages(whole, value, number, contacts)
        return
    kind, names = _kind_of_field(field)
    lists = [value[name] for name in names if isinstance(value.get(name), list)]
    read_part = partial(_part, kind=kind, number=number, contacts=contacts)
    for element in (element for elements in lists for element in elements):
        yield _Piece(element, number, read_part)
    errors = value.get("errors") if lists else None
    for error in errors if isinstance(errors, list) else ():
        yield _Piece(error, number, partial(_account_error, whole=whole, number=number))
    if not lists:
        reason = f"field {quoted(field)}" if kind is InboundKind.UNKNOWN else None
        read = partial(stored_only, kind=kind, phone_number_id=number, reason=reason)
        yield _Piece(whole, number, read)


def _messages(
    whole: dict[str, object],
    value: dict[str, object],
    number: str | None,
    contacts: Sequence[Sender],
) -> Iterator[_Piece]:
    readers: dict[str, _Read] = {
        "messages": partial(read_message, phone_number_id=number, contacts=contacts),
        "statuses": partial(read_status, phone_number_id=number, contacts=contacts),
        "errors": partial(_account_error, whole=whole, number=number),
    }
    present = [name for name in readers if name in value]
    for name in present:
        elements = value[name]
        if not isinstance(elements, list):
            yield _bad({**whole, "changes": [{"value": value}]}, f"{name} is no list", number)
            continue
        for element in elements:
            yield _Piece(element, number, readers[name])
    if not present:
        read = partial(
            stored_only,
            kind=InboundKind.UNKNOWN,
            phone_number_id=number,
            reason="neither messages nor statuses nor errors",
        )
        yield _Piece(whole, number, read)


def _account_error(error: object, *, whole: dict[str, object], number: str | None) -> InboundItem:
    """An error about the number itself, with the entry's id and time so that it can come again."""
    told = {"entry": {key: whole[key] for key in whole if key != "changes"}, "error": error}
    return stored_only(told, InboundKind.ACCOUNT, phone_number_id=number, reason=_error_code(error))


def _error_code(error: object) -> str:
    code = error.get("code") if isinstance(error, dict) else None
    return f"error {code}" if isinstance(code, int) else "error without a code"


def _part(
    value: object, *, kind: InboundKind, number: str | None, contacts: Sequence[Sender]
) -> InboundItem:
    """An element that is kept but never input; a call still says who called, an echo to whom.

    Only echoes and messages in standby have ids of their own (a call shares one between events).
    """
    if kind is InboundKind.ECHO:
        return read_echo(value, phone_number_id=number, contacts=contacts)
    by_id = kind is InboundKind.STANDBY and _is_message(value)
    item = stored_only(value, kind, phone_number_id=number, by_id=by_id)
    if kind is not InboundKind.CALL or not isinstance(value, dict):
        return item
    sender = identify(
        from_field=usable_id(value.get("from")),
        user_id=usable_id(value.get("from_user_id")),
        contacts=contacts,
    )
    return item.model_copy(update={"sender": sender})


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and "type" in value and "status" not in value


def _kind_of_field(field: object) -> tuple[InboundKind, tuple[str, ...]]:
    if not isinstance(field, str):
        return InboundKind.UNKNOWN, ()
    if field in _LISTS:
        return _LISTS[field]
    if field in _ACCOUNT_FIELDS or field.startswith(_ACCOUNT_PREFIXES):
        return InboundKind.ACCOUNT, ()
    return InboundKind.UNKNOWN, ()


def _number(value: dict[str, object]) -> str | None:
    metadata = value.get("metadata")
    return usable_id(metadata.get("phone_number_id")) if isinstance(metadata, dict) else None


def _bad(value: object, reason: str, number: str | None = None) -> _Piece:
    return _Piece(
        value,
        number,
        partial(quarantined, reason=reason, phone_number_id=number, by_id=False),
    )
