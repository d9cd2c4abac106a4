"""Who a message is from: its own ids first, then the contact that carries one of them.

The trap: `contacts[0]` is not "the sender". A batch may hold several people, the list may be
missing, and a phone may stand for two user ids; then the user id stays unknown, and whoever asks
for one refuses (rule: user id first, fail closed on conflict).
"""

from collections.abc import Sequence

from pydantic import ValidationError

from channels.whatsapp.items import usable_id
from channels.whatsapp.jsontext import storable
from channels.whatsapp.wire import WireContact
from domain.inbound import Sender


def read_contacts(value: object) -> list[Sender]:
    """The readable entries of a `contacts` list, with the ids and names that can be stored."""
    if not isinstance(value, list):
        return []
    people: list[Sender] = []
    for entry in value:
        try:
            contact = WireContact.model_validate(entry)
        except ValidationError:
            continue
        name = contact.profile.name if contact.profile else None
        usable = name.strip() if name and storable(name) else None
        wa_id, user_id = usable_id(contact.wa_id), usable_id(contact.user_id)
        people.append(Sender.classify(from_field=wa_id, user_id=user_id, name=usable or None))
    return people


def identify(
    *, from_field: str | None, user_id: str | None, contacts: Sequence[Sender]
) -> Sender | None:
    """The sender, completed from the contacts that carry the same id; None without any id."""
    own = Sender.classify(from_field=from_field, user_id=user_id)
    if own.user_id is not None:
        same = [c for c in contacts if c.user_id == own.user_id]
        wa_id = own.wa_id or _only({c.wa_id for c in same if c.wa_id})
        return Sender(user_id=own.user_id, wa_id=wa_id, name=_name(same))
    if own.wa_id is not None:
        same = [c for c in contacts if c.wa_id == own.wa_id]
        found = _only({c.user_id for c in same if c.user_id})
        return Sender(user_id=found, wa_id=own.wa_id, name=_name(same))
    return None


def _only(values: set[str]) -> str | None:
    return next(iter(values)) if len(values) == 1 else None


def _name(people: Sequence[Sender]) -> str | None:
    return next((person.name for person in people if person.name), None)
