"""Equal things have equal hashes, different things different ones, and floats none at all."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.canonical import NotCanonicalError, action_digest, canonical, sha256_hex

FIELDS: dict[str, Any] = {
    "tool": "create_pix_charge",
    "tool_version": 1,
    "payload": {"amount_cents": 15000, "customer": {"id": 7, "name": "João"}},
    "summary": "Pix de R$ 150,00",
    "request": {"path": "/orders", "body": "{}"},
    "account_id": "demo",
    "phone_number_id": "100200300",
    "user_id": "BR.1",
    "wa_id": "5511988880001",
    "expires_at": datetime(2026, 3, 11, 14, 0, tzinfo=UTC),
}


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("tool", "refund_charge"),
        ("tool_version", 2),
        ("payload", {"amount_cents": 15001, "customer": {"id": 7, "name": "João"}}),
        ("payload", {"amount_cents": 15000, "customer": {"id": 8, "name": "João"}}),
        ("payload", {"amount_cents": 15000, "customer": {"id": "7", "name": "João"}}),
        ("payload", {"amount_cents": 15000, "customer": {"id": 7, "name": "João", "x": None}}),
        ("summary", "Pix de R$ 15,00"),
        ("summary", "Pix de R$ 150,00 "),
        ("request", {"path": "/orders", "body": "{ }"}),
        ("request", None),
        ("account_id", "other"),
        ("phone_number_id", "100200301"),
        ("user_id", "BR.2"),
        ("user_id", None),
        ("wa_id", "5511988880002"),
        ("wa_id", None),
        ("expires_at", FIELDS["expires_at"] + timedelta(microseconds=1)),
    ],
)
def test_the_digest_changes_with_every_field(field: str, other: object) -> None:
    """Whatever was shown, for whom, until when, or will be sent: a change is another digest."""
    assert action_digest(**{**FIELDS, field: other}) != action_digest(**FIELDS)


def test_every_field_of_the_digest_is_changed_above() -> None:
    """A new field joins the table."""
    assert action_digest.__kwdefaults__ is None
    names = action_digest.__code__.co_varnames[: action_digest.__code__.co_kwonlyargcount]
    assert set(names) == set(FIELDS)


def test_the_digest_is_that_of_the_thing_not_of_its_writing() -> None:
    """Another order of keys and another zone of the same moment are the same action."""
    turned = {"customer": {"name": "João", "id": 7}, "amount_cents": 15000}
    zone = timezone(timedelta(hours=-3))
    same = {**FIELDS, "payload": turned, "expires_at": FIELDS["expires_at"].astimezone(zone)}
    assert action_digest(**same) == action_digest(**FIELDS)


def test_the_digest_of_today_is_the_digest_of_tomorrow() -> None:
    """A frozen value: another derivation refuses every action that is pending at an upgrade."""
    assert (
        action_digest(**FIELDS)
        == "452f5e2da528654601c4b3b02f3afd466f4a2fe98dd6a0cc534db270dd81f62c"
    )


def test_fields_do_not_run_into_each_other() -> None:
    """What stands at the end of one is not the beginning of the next."""
    one = action_digest(**{**FIELDS, "account_id": "ab", "phone_number_id": "c"})
    assert one != action_digest(**{**FIELDS, "account_id": "a", "phone_number_id": "bc"})
    one = action_digest(**{**FIELDS, "user_id": "x", "wa_id": None})
    assert one != action_digest(**{**FIELDS, "user_id": None, "wa_id": "x"})


@pytest.mark.parametrize(
    "value",
    [1.0, 0.1, float("nan"), float("inf"), Decimal("1.5"), (1, 2), {1, 2}, b"x", object(),
     datetime(2026, 1, 1, tzinfo=UTC), {1: "x"}, {None: 1}],
)  # fmt: skip
@pytest.mark.parametrize("deep", [False, True])
def test_what_has_no_one_way_of_being_written_is_refused(value: object, deep: bool) -> None:
    """Floats above all, at any depth: money is integer cents."""
    with pytest.raises(NotCanonicalError):
        sha256_hex({"a": [{"b": value}]} if deep else value)


@pytest.mark.parametrize("field", ["payload", "request"])
def test_a_float_never_gets_a_digest(field: str) -> None:
    """Not even one that is whole."""
    with pytest.raises(NotCanonicalError):
        action_digest(**{**FIELDS, field: {"amount": 150.0}})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=12,
)


def typed(value: Any) -> Any:
    """The value with the types spelled out, since True == 1 in Python and not in JSON."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return (type(value).__name__, value)


@given(VALUES)
def test_what_is_read_back_is_written_equal(value: object) -> None:
    """A row that goes through jsonb and back keeps its hash."""
    assert canonical(json.loads(json.dumps(value))) == canonical(value)
    assert json.loads(canonical(value)) == value


@given(VALUES, VALUES)
def test_different_values_have_different_bytes(one: object, other: object) -> None:
    """And equal ones equal bytes: the hash compares what the values are."""
    assert (canonical(one) == canonical(other)) == (typed(one) == typed(other))
