"""ISO 8601 only; without an offset in the account's zone; changes of clocks are never guessed."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.dates import end_of_day, from_iso_utc, iso_utc, parse_date, parse_instant, zone
from domain.errors import SettingsError, ToolInputError

SAO_PAULO = "America/Sao_Paulo"
NEW_YORK = "America/New_York"


@pytest.mark.parametrize(
    "text",
    ["2026-03-11T14:00:00-03:00", "2026-03-11 14:00", "2026-03-11T14:00", "2026-03-11T17:00Z",
     "2026-03-11T14:00:00.000000"],
)  # fmt: skip
def test_the_ways_to_write_one_moment(text: str) -> None:
    """The forms in which a model writes it are one moment."""
    assert parse_instant(text, time_zone=SAO_PAULO) == datetime(2026, 3, 11, 17, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["amanhã às 14h", "11/03/2026 14:00", "2026-03-11", "14:00", "2026-03-11T14", "20260311T1400",
     "2026-W11-3T14:00", "2026-03-11T14:00 ", "2026-03-11T14:00-3", "٢٠٢٦-03-11T14:00", ""],
)  # fmt: skip
def test_anything_but_iso_is_refused(text: str) -> None:
    """No human date is read, in no language."""
    with pytest.raises(ToolInputError, match="ISO 8601"):
        parse_instant(text, time_zone=SAO_PAULO)


@pytest.mark.parametrize(
    "text",
    ["2026-02-30T10:00", "2026-13-01T10:00", "2026-01-01T24:30", "0001-01-01T00:00+23:59",
     "9999-12-31T23:59-23:59", "2026-01-01T10:00+99:99"],
)  # fmt: skip
def test_a_moment_that_does_not_exist_is_refused(text: str) -> None:
    """It is an error for the model, never a crash."""
    with pytest.raises(ToolInputError, match="does not exist"):
        parse_instant(text, time_zone=SAO_PAULO)


def test_a_skipped_hour_is_refused() -> None:
    """On 2026-03-08 New York has no 02:30."""
    with pytest.raises(ToolInputError, match="is skipped"):
        parse_instant("2026-03-08T02:30", time_zone=NEW_YORK)


def test_a_repeated_hour_needs_its_offset() -> None:
    """On 2026-11-01 New York has 01:30 twice; the offset says which."""
    with pytest.raises(ToolInputError, match=r"happens twice.*offset"):
        parse_instant("2026-11-01T01:30", time_zone=NEW_YORK)
    second = parse_instant("2026-11-01T01:30-05:00", time_zone=NEW_YORK)
    assert second == datetime(2026, 11, 1, 6, 30, tzinfo=UTC)


@given(
    st.datetimes(
        min_value=datetime.fromisoformat("1970-01-01"),
        max_value=datetime.fromisoformat("2100-01-01"),
    )
)
def test_the_zone_only_says_where_the_clock_hangs(local: datetime) -> None:
    """What is read without offset shows the same wall clock again, or is refused."""
    text = local.isoformat(timespec="seconds")
    try:
        moment = parse_instant(text, time_zone=NEW_YORK)
    except ToolInputError:
        return
    assert moment.astimezone(zone(NEW_YORK)).replace(tzinfo=None) == local.replace(microsecond=0)


@given(st.datetimes(timezones=st.just(UTC)))
def test_the_stored_form_comes_back_equal(moment: datetime) -> None:
    """A moment survives its way through the payload."""
    assert from_iso_utc(iso_utc(moment)) == moment


def test_the_stored_form_is_utc_only() -> None:
    """A moment without zone cannot be stored, and another form cannot be read back."""
    with pytest.raises(ValueError, match="without a zone"):
        iso_utc(datetime.fromisoformat("2026-01-01"))
    with pytest.raises(ValueError, match="iso_utc"):
        from_iso_utc("2026-01-01T00:00:00-03:00")


def test_dates() -> None:
    """Only `2026-12-01`, and only days that exist."""
    assert parse_date("2026-12-01") == date(2026, 12, 1)
    for text in ("01/12/2026", "2026-12-1", "20261201", "hoje", "2026-12-01T00:00"):
        with pytest.raises(ToolInputError, match="form"):
            parse_date(text)
    with pytest.raises(ToolInputError, match="calendar"):
        parse_date("2026-02-29")


def test_a_day_ends_at_its_own_midnight() -> None:
    """A charge due today is payable until midnight in the account's zone."""
    end = end_of_day(date(2026, 11, 30), time_zone=SAO_PAULO)
    assert end == datetime(2026, 12, 1, 3, tzinfo=UTC)
    spring = end_of_day(date(2026, 3, 8), time_zone=NEW_YORK)
    assert spring - end_of_day(date(2026, 3, 7), time_zone=NEW_YORK) == timedelta(hours=23)


@pytest.mark.parametrize("name", ["Brasilia", "", "../etc/passwd", "America"])
def test_an_unknown_zone_is_the_operators(name: str) -> None:
    """A zone is a setting; its error names the value."""
    with pytest.raises(SettingsError, match="IANA"):
        zone(name)
