"""Timestamps and validity windows, by calendar arithmetic of their own.

An instant is a number of milliseconds since 1970-01-01T00:00:00Z in the proleptic Gregorian
calendar. Nothing here asks the clock, the locale or the time zone of the machine.
"""

from __future__ import annotations

from mc_schema.errors import SchemaError

# Spelt out, because every retrieval command starts by importing this and `typing` costs as much as
# reading a thousand records.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MS_PER_DAY: Final = 86_400_000
EARLIEST_FORMATTED_MS: Final = -62_167_219_200_000  # 0000-01-01T00:00:00.000Z
LATEST_FORMATTED_MS: Final = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z

_FIRST_YEAR: Final = 100
_MAX_HOUR: Final = 23
_FEBRUARY: Final = 2
_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS_TO_EPOCH: Final = 719_468  # from 0000-03-01, where the eras below begin
_DAYS_PER_ERA: Final = 146_097
_YEARS_PER_ERA: Final = 400
_DATE_LENGTH: Final = len("YYYY-MM-DD")
_MAX_FRACTION: Final = 9
# One look-up says that two characters are digits and at most 59, and what they are worth.
_SIXTIETHS: Final = {f"{number:02d}": number for number in range(60)}
# Records share days far more often than instants. Bounded, so that no input makes it grow.
_MIDNIGHTS: Final[dict[str, int]] = {}
_MAX_MIDNIGHTS: Final = 4096


def parse_timestamp(text: str) -> int | None:
    """Return the instant written in *text* in milliseconds, or ``None`` if it is not a timestamp.

    Accepted are a date (``2024-02-29``, midnight UTC) and a date with a time and an offset
    (``2024-02-29T12:30Z``, ``2024-02-29T12:30:15.25+05:30``), from year 100 to year 9999.
    Fractions are cut, not rounded, to milliseconds.

    Source: Cortex contract, section 5.
    """
    date = text[:_DATE_LENGTH]
    midnight = _MIDNIGHTS.get(date)
    if midnight is None:
        midnight = _parse_date(date)
        if midnight is None:
            return None
        if len(_MIDNIGHTS) >= _MAX_MIDNIGHTS:
            _MIDNIGHTS.clear()
        _MIDNIGHTS[date] = midnight
    if len(text) == _DATE_LENGTH:
        return midnight
    clock = _parse_clock(text)
    return None if clock is None else midnight + clock


def format_timestamp(instant_ms: int) -> str:
    """Return *instant_ms* as ``YYYY-MM-DDTHH:MM:SS.mmmZ``.

    Raises:
        SchemaError: The instant lies outside the years 0 to 9999, which that form cannot write.
    """
    if not EARLIEST_FORMATTED_MS <= instant_ms <= LATEST_FORMATTED_MS:
        raise SchemaError(
            f"instant `{instant_ms}` lies outside the years 0 to 9999", code="invalid_timestamp"
        )
    days, clock = divmod(instant_ms, MS_PER_DAY)
    year, month, day = _civil_date(days)
    seconds, millisecond = divmod(clock, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return (
        f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{millisecond:03d}Z"
    )


def is_active(valid_from: int | None, valid_until: int | None, now_ms: int) -> bool:
    """Return whether *now_ms* lies in a window of instants; ``None`` leaves that side open.

    The start is inclusive, the end is not.
    """
    started = valid_from is None or valid_from <= now_ms
    return started and (valid_until is None or valid_until > now_ms)


def is_calendar_day(year: int, month: int, day: int) -> bool:
    """Return whether the numbers name a real day from year 100 on."""
    if year < _FIRST_YEAR or not 1 <= month <= len(_MONTH_DAYS):
        return False
    leap_day = month == _FEBRUARY and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _MONTH_DAYS[month - 1] + leap_day


def _parse_date(text: str) -> int | None:
    year, month, day = text[:4], text[5:7], text[8:]
    if text[4:5] != "-" or text[7:8] != "-" or not (year + month + day).isdecimal():
        return None
    if len(text) != _DATE_LENGTH or not text.isascii():
        return None
    if not is_calendar_day(int(year), int(month), int(day)):
        return None
    return _days_since_epoch(int(year), int(month), int(day)) * MS_PER_DAY


def _parse_clock(text: str) -> int | None:
    """Return the milliseconds from midnight UTC of what follows the date in *text*."""
    minutes = _parse_minutes(text[11:16])
    if text[_DATE_LENGTH] != "T" or minutes is None:
        return None
    clock = minutes * 60_000
    position = 16
    if text[16:17] == ":":
        second = _SIXTIETHS.get(text[17:19])
        if second is None:
            return None
        clock += second * 1000
        position = 19
    zone = text[position:]
    if zone == "Z":
        return clock
    if zone[:1] == "." and position == 19:  # noqa: PLR2004 - after the seconds
        digits, zone = (zone[1:-1], "Z") if zone[-1] == "Z" else (zone[1:-6], zone[-6:])
        if not digits.isdecimal() or not digits.isascii() or len(digits) > _MAX_FRACTION:
            return None
        clock += int((digits + "00")[:3])
    offset = _parse_offset(zone)
    return None if offset is None else clock - offset * 60_000


def _parse_offset(zone: str) -> int | None:
    if zone == "Z":
        return 0
    minutes = _parse_minutes(zone[1:])
    if minutes is None or zone[0] not in "+-":
        return None
    return minutes if zone[0] == "+" else -minutes


def _parse_minutes(text: str) -> int | None:
    hour, minute = _SIXTIETHS.get(text[:2]), _SIXTIETHS.get(text[3:])
    if hour is None or minute is None or hour > _MAX_HOUR or text[2] != ":":
        return None
    return hour * 60 + minute


def _days_since_epoch(year: int, month: int, day: int) -> int:
    # Years are counted from March, so that a leap day is the last day of its year and the day of
    # the year is a linear function of the month.
    shifted = year - (month <= _FEBRUARY)
    era, year_of_era = divmod(shifted, _YEARS_PER_ERA)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * _DAYS_PER_ERA + day_of_era - _DAYS_TO_EPOCH


def _civil_date(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + _DAYS_TO_EPOCH, _DAYS_PER_ERA)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9  # noqa: PLR2004 - March is 0
    return year_of_era + era * _YEARS_PER_ERA + (month <= _FEBRUARY), month, day
