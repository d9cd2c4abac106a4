"""However Meta cuts, repeats, reorders or decorates its batches, the same things come out.

The rule: what is accepted depends only on the set of (business number, wamid).
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from channels.whatsapp.parse import parse_webhook
from domain.inbound import InboundItem, InboundKind
from tests.unit.channels.envelopes import ANA_ID, Json, change, encode, status, text_message

NUMBERS = ("1001", "1002", "1003")
UNKNOWN_KEYS = st.dictionaries(
    st.text(min_size=1, max_size=6).map(lambda key: f"x_{key}"),
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    max_size=2,
)

Sent = tuple[str, str]
"""(business number, wamid)."""

SENT = st.sets(st.tuples(st.sampled_from(NUMBERS), st.integers(0, 30).map("wamid.{}".format)))


@st.composite
def deliveries(draw: st.DrawFn, sent: set[Sent]) -> list[bytes]:
    """`sent` in one or more bodies: duplicated, shuffled, re-cut and decorated at will."""
    ordered = sorted(sent)
    again = draw(st.lists(st.sampled_from(ordered), max_size=10)) if ordered else []
    queue = draw(st.permutations(ordered + again))
    bodies: list[bytes] = []
    while queue or not bodies:
        entries: list[Json] = []
        for _ in range(draw(st.integers(1, 2))):
            changes: list[Json] = []
            for _ in range(draw(st.integers(1, 3))):
                take = draw(st.integers(1, 4))
                part, queue = queue[:take], queue[take:]
                changes.extend(draw(_changes(part)))
            entries.append({"changes": changes, **draw(UNKNOWN_KEYS)})
        body = {"object": "whatsapp_business_account", "entry": entries, **draw(UNKNOWN_KEYS)}
        bodies.append(encode(body))
    return bodies


@st.composite
def _changes(draw: st.DrawFn, part: list[Sent]) -> list[Json]:
    """One change a number, since the number stands in the value."""
    made: list[Json] = []
    for number in dict.fromkeys(number for number, _ in part):
        messages = [draw(_message(wamid)) for own, wamid in part if own == number]
        optional: Json = {}
        if draw(st.booleans()):
            optional["contacts"] = draw(
                st.sampled_from([[], [{"user_id": ANA_ID}], [{"wa_id": "x"}], [None], None])
            )
        if draw(st.booleans()):
            optional["statuses"] = [status("wamid.ours")]
        made.append(change(number=number, messages=messages, **optional, **draw(UNKNOWN_KEYS)))
    return made


@st.composite
def _message(draw: st.DrawFn, wamid: str) -> Json:
    message = {**text_message(wamid), **draw(UNKNOWN_KEYS)}
    for key in draw(st.sets(st.sampled_from(["from", "timestamp"]))):
        del message[key]
    if draw(st.booleans()):
        message["context"] = draw(st.sampled_from([{}, {"forwarded": False}, {"id": "wamid.q"}]))
    return message


def accepted(bodies: list[bytes]) -> list[InboundItem]:
    """All items of all bodies."""
    return [item for body in bodies for item in parse_webhook(body).items]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_accepted_items_depend_only_on_what_was_sent(data: st.DataObject) -> None:
    """The set of (number, key) is what was sent: nothing lost, nothing invented, all input."""
    sent = data.draw(SENT)
    items = accepted(data.draw(deliveries(sent)))
    assert {(item.phone_number_id, item.key) for item in items} == sent
    assert all(item.kind is InboundKind.TEXT and item.from_person for item in items)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_one_message_reads_the_same_in_every_batch(data: st.DataObject) -> None:
    """The same message element gives the same item and raw bytes, whatever stands around it."""
    message = data.draw(_message("wamid.same"))
    shuffled = dict(data.draw(st.permutations(list(message.items()))))
    value = change(number="1001", messages=[message])["value"]
    alone = {"entry": [{"changes": [{"value": value, "field": "messages"}]}]}
    crowd = change(number="1001", messages=[None, shuffled, text_message("wamid.other")])
    first = accepted([encode({"object": "whatsapp_business_account", **alone})])
    second = accepted(
        [encode({"entry": [{"changes": [crowd]}], "object": "whatsapp_business_account"})]
    )
    assert first == [item for item in second if item.key == "wamid.same"]
