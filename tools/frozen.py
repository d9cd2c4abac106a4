"""What every bundled payload holds, and what of it goes back to the model.

A payload carries its language and zone, so that summary and feedback need nothing but the payload.
It holds nothing that moves with the clock: two proposals of one effect must have one payload, or an
equal effect under way would not be recognised (design §5).
"""

from domain.canonical import JsonValue
from domain.dates import from_iso_utc, zone
from domain.documents import mask_document
from domain.payload import Frozen, text_at
from domain.people import Who
from domain.texts import Texts, texts_for
from tools.contract import Payload

_OURS = frozenset({"language", "time_zone", "held_by", "provider_ref", "recipient_ref", "pix_code"})
"""Of no use to the model, or too long for it to repeat without a slip."""

_MOMENTS = frozenset({"starts_at", "old_starts_at"})


def frozen(who: Who, **values: JsonValue) -> Payload:
    """Return a payload of these values with the account's language and zone."""
    return {"language": who.language, "time_zone": who.time_zone, **values}


def texts_of(payload: Frozen) -> Texts:
    """Return the texts in the language that the payload was frozen in."""
    return texts_for(text_at(payload, "language"))


def seen_by_model(payload: Payload, result: Payload) -> Payload:
    """Return payload and result for the model: documents masked, moments in the account's zone (a
    model that has to convert will say the wrong hour), what is only ours left out."""
    both = {**payload, **result}
    for key in _MOMENTS & both.keys():
        moment = from_iso_utc(text_at(both, key)).astimezone(zone(text_at(payload, "time_zone")))
        both[key] = moment.isoformat(timespec="minutes")
    document = both.get("document")
    if isinstance(document, str):
        both["document"] = mask_document(document)
    return {key: value for key, value in both.items() if key not in _OURS}
