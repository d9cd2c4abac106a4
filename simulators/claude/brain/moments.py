"""Days and times of day in Portuguese, read against the moment the request carries."""

import re
from datetime import date, datetime, time, timedelta

from simulators.claude.brain.words import blank, fold, nfc

WEEKDAYS = ("segunda", "terca", "quarta", "quinta", "sexta", "sabado", "domingo")
MONTHS = (
    "janeiro",
    "fevereiro",
    "marco",
    "abril",
    "maio",
    "junho",
    "julho",
    "agosto",
    "setembro",
    "outubro",
    "novembro",
    "dezembro",
)
ISO_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)")
_ISO_DAY = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_SLASH = re.compile(r"\b(\d{1,2})/(\d{1,2})(?:/(\d{4}))?\b")
_NAMED = re.compile(rf"\b(\d{{1,2}}) de ({'|'.join(MONTHS)})\b")
_DAY = re.compile(r"\bdia (\d{1,2})\b")
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})(?:-feira)?\b")
_RELATIVE = re.compile(r"\b(depois de amanha|amanha|hoje)\b")
_CLOCK = re.compile(r"(?:\b(?:as|a) )?\b(\d{1,2})(?::|h)(\d\d)(?:h|min)?\b")
_HOUR = re.compile(r"(?:\b(?:as|a) )?\b(\d{1,2}) ?(?:h\b|hs\b|horas?\b)|\bas (\d{1,2})\b(?! reais)")
_NOON = re.compile(r"\bmeio[- ]dia\b")


def find_day(text: str, now: datetime) -> date | None:
    """Return the first day named in `text`; weekdays and bare day numbers lie ahead of `now`."""
    folded = fold(text)
    today = now.date()
    if match := _ISO_DAY.search(folded):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    if match := _SLASH.search(folded):
        year = int(match[3]) if match[3] else None
        return _ahead(today, int(match[2]), int(match[1]), year)
    if match := _NAMED.search(folded):
        return _ahead(today, MONTHS.index(match[2]) + 1, int(match[1]), None)
    if match := _RELATIVE.search(folded):
        return today + timedelta(days={"hoje": 0, "amanha": 1}.get(match[1], 2))
    if match := _WEEKDAY.search(folded):
        distance = (WEEKDAYS.index(match[1]) - today.weekday()) % 7
        return today + timedelta(days=distance or 7)
    if match := _DAY.search(folded):
        return _next_day_number(today, int(match[1]))
    return None


def find_time(text: str) -> time | None:
    """Return the first time of day named in `text`."""
    folded = fold(text)
    if moment := ISO_MOMENT.search(nfc(text)):
        return datetime.fromisoformat(moment[0]).time()
    if _NOON.search(folded):
        return time(12)
    if match := _CLOCK.search(folded):
        return _time(int(match[1]), int(match[2]), folded[match.end() :])
    if match := _HOUR.search(folded):
        return _time(int(match[1] or match[2]), 0, folded[match.end() :])
    return None


def without_moments(text: str) -> str:
    """Return `text` with days and times blanked, so that their digits are not read as money."""
    text = nfc(text)
    patterns = (ISO_MOMENT, _ISO_DAY, _SLASH, _NAMED, _RELATIVE, _WEEKDAY, _DAY, _CLOCK, _HOUR)
    for pattern in patterns:
        for match in pattern.finditer(fold(text)):
            text = blank(text, match.start(), match.end())
    return text


def _time(hour: int, minute: int, rest: str) -> time | None:
    if hour < 12 and re.match(r" (da tarde|da noite)\b", rest):
        hour += 12
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _ahead(today: date, month: int, day: int, year: int | None) -> date | None:
    found = _day(year or today.year, month, day)
    if found is not None and year is None and found < today:
        return _day(today.year + 1, month, day)
    return found


def _next_day_number(today: date, day: int) -> date | None:
    if day >= today.day:
        return _day(today.year, today.month, day)
    following = (today.replace(day=1) + timedelta(days=32)).replace(day=1)
    return _day(following.year, following.month, day)
