"""Who + what + when make one key, however the model wrote it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.business_key import business_key, key_part
from domain.canonical import NotCanonicalError
from domain.dates import parse_instant
from domain.errors import ToolInputError
from domain.names import normalise, search_words

ZONE = "America/Sao_Paulo"


def key(*parts: object) -> str:
    """The key of these parts in account `demo`, read in São Paulo."""
    return business_key("demo", parts, time_zone=ZONE)  # type: ignore[arg-type] # tests pass floats


@pytest.mark.parametrize(
    ("one", "other"),
    [("2026-03-11T14:00:00-03:00", "2026-03-11 14:00"),
     ("2026-03-11T17:00:00Z", "2026-03-11 14:00"),
     (datetime(2026, 3, 11, 17, tzinfo=UTC), "2026-03-11T14:00"), ("8812", 8812), (" 8812 ", 8812),
     (" João ", "joão"), ("JOÃO", "joa\u0303o"), ("150.00", 15000), ("Ana  Torres", "ana torres")],
)  # fmt: skip
def test_one_thing_has_one_key(one: object, other: object) -> None:
    """The forms of the article: zone, type, spaces and case, reais and cents."""
    assert key("booking", one) == key("booking", other)


def test_different_things_have_different_keys() -> None:
    """Nothing collapses that a person would tell apart."""
    parts = [("a", 1), ("a", "1x"), ("a", 1, None), ("a", "2026-03-11 14:00"),
             ("a", "2026-03-11 14:01"), ("a", "joao"), ("a", "joão"), ("a", True), ("a", "0812"),
             ("a", 812), ("a1",), ("a", ["x"]), ("a,1",)]  # fmt: skip
    assert len({key(*part) for part in parts}) == len(parts)


def test_the_account_comes_first() -> None:
    """The same booking at two businesses is two."""
    assert business_key("a", ["x"]) != business_key("b", ["x"])
    assert business_key("a", ["b", "x"]) != business_key("ab", ["x"])


def test_form_and_floats() -> None:
    """64 hex, and no float ever gets a key."""
    assert len(key("a")) == 64
    assert int(key("a"), 16) >= 0
    with pytest.raises(NotCanonicalError):
        key(1.5)


@given(
    st.datetimes(
        min_value=datetime.fromisoformat("1990-01-01"),
        max_value=datetime.fromisoformat("2100-01-01"),
    )
)
def test_local_and_utc_forms_agree(local: datetime) -> None:
    """With the zone's own offset or without, a time is one key (no repeated hours since 2019 in
    São Paulo; earlier ones are refused without offset and so are left out)."""
    text = local.isoformat(sep=" ", timespec="minutes")
    try:
        moment = parse_instant(text, time_zone=ZONE)
    except ToolInputError:
        return
    assert key(text) == key(moment) == key(moment.isoformat())


@given(st.integers(min_value=0, max_value=10**12 - 1))
def test_amounts_agree(cents: int) -> None:
    """Reais as text and cents as integer are one key."""
    assert key(f"{cents // 100}.{cents % 100:02d}") == key(cents)


@given(st.integers(min_value=-(10**17), max_value=10**17))
def test_ids_agree(number: int) -> None:
    """An id as text and as integer are one key."""
    assert key(str(number)) == key(number) == key(f" {number} ")


@given(st.text(max_size=40))
def test_normalising_is_stable(text: str) -> None:
    """Spaces and case around a text never matter, and twice is as good as once."""
    assert normalise(normalise(text)) == normalise(text)
    assert key(f" {text} ") == key(text)
    assert key_part(key_part(text, time_zone=ZONE), time_zone=ZONE) == key_part(
        text, time_zone=ZONE
    )


def test_a_search_forgets_accents() -> None:
    """`Joao` finds `João`."""
    assert search_words(" JOÃO  da Conceição ") == ["joao", "da", "conceicao"]
