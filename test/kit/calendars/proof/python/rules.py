"""The starts of recurrence rules by dateutil, as wall clocks."""

import re
from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta
from dateutil.rrule import MONTHLY, WEEKLY, YEARLY, rrule, rrulestr, weekdays

from judged import ODD_PARTS, START, TIMES_OF_DAYS, UNTIL_DATE, WEEK_DAY, WEEK_SETS
from zones import as_utc

WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
PARTS = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST"}
PARTS |= {f"BY{name}" for name in ("MONTH", "WEEKNO", "YEARDAY", "MONTHDAY", "DAY", "HOUR", "MINUTE", "SECOND", "SETPOS")}
END_OF_DAY = timedelta(days=1, seconds=-1)


def parse(text):
    return datetime.strptime(text.rstrip("Z"), "%Y%m%dT%H%M%S" if "T" in text else "%Y%m%d")


def rule_starts(text, start, last, judged):
    """Of a `Time`, up to a wall clock. In the judged reading the start is the first one, unless the rule ends before it."""
    parts = dict(part.strip().split("=", 1) for part in text.upper().split(";") if part)
    count = int(parts.pop("COUNT", 0)) or None
    until = parts.pop("UNTIL", None)
    is_over = until_test(until, start, judged) if until else lambda local: False
    parts, origin = completed(parts, start.local, judged)
    matching = rrulestr(";".join(f"{name}={value}" for name, value in parts.items()), dtstart=origin)
    found = 0
    if START in judged and not is_over(start.local):
        yield start.local
        found = 1
    for local in matching:
        if local > last or is_over(local) or (count and found >= count):
            return
        if local < start.local or (found and local == start.local):
            continue
        found += 1
        yield local


def until_test(text, start, judged):
    end = parse(text)
    if start.is_date and "T" in text and TIMES_OF_DAYS in judged:
        day = day_in(start, end, text.endswith("Z"), judged)
        return lambda local: local.date() > day
    if "T" not in text and not start.is_date:
        end += END_OF_DAY if UNTIL_DATE in judged else timedelta()
    if text.endswith("Z") and not start.is_date:
        return lambda local: start.zone.to_utc(local) > as_utc(end)
    return lambda local: local > end


def day_in(start, local, is_utc, judged):
    """The day of a time in the calendar of an all-day event."""
    if not is_utc or TIMES_OF_DAYS not in judged:
        return local.date()
    own = start.zone.to_local(as_utc(local))
    is_midnight_of_utc = local.time() == datetime.min.time() and own.time() != local.time()
    return local.date() if is_midnight_of_utc else own.date()


def completed(parts, start, judged):
    """Parts that dateutil reads as judged, and the start from which it counts."""
    if ODD_PARTS in judged:
        parts = {name: value for name, value in parts.items() if name in PARTS}
        if "BYDAY" in parts:
            days = [day for day in parts["BYDAY"].split(",") if re.fullmatch(r"[+-]?\d*(MO|TU|WE|TH|FR|SA|SU)", day)]
            parts["BYDAY"] = ",".join(days)
        if parts.get("INTERVAL") == "0":
            del parts["INTERVAL"]
    if parts.get("INTERVAL") == "0":
        raise ValueError("dateutil would repeat the rule for ever")
    has_day = any(name in parts for name in ("BYDAY", "BYMONTHDAY", "BYYEARDAY"))
    if WEEK_DAY in judged and "BYWEEKNO" in parts and not has_day:
        parts = {**parts, "BYDAY": WEEKDAYS[start.weekday()]}
    if WEEK_SETS in judged and parts["FREQ"] == "WEEKLY" and "BYSETPOS" in parts:
        day = {} if has_day else {"BYDAY": WEEKDAYS[start.weekday()]}
        first = WEEKDAYS.index(parts.get("WKST", "MO"))
        return {**parts, **day}, start - timedelta(days=(start.weekday() - first) % 7)
    return parts, start


NAMES = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
INDEXES = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}


def pattern_starts(recurrence, start, last):
    """Of a series of Outlook: https://learn.microsoft.com/graph/api/resources/recurrencepattern."""
    limits = recurrence["range"]
    end = datetime.fromisoformat(limits["endDate"]) + END_OF_DAY if limits["type"] == "endDate" else last
    count = limits["numberOfOccurrences"] if limits["type"] == "numbered" else None
    for number, local in enumerate(pattern_times(recurrence["pattern"], start)):
        if local > min(end, last) or (count and number >= count):
            return
        yield local


def pattern_times(pattern, start):
    interval = pattern["interval"]
    days = [weekdays[NAMES.index(day)] for day in pattern.get("daysOfWeek", [])]
    index = INDEXES[pattern.get("index", "first")]
    match pattern["type"]:
        case "daily":
            return every(start, timedelta(days=interval))
        case "weekly":
            first = NAMES.index(pattern.get("firstDayOfWeek", "sunday"))
            return rrule(WEEKLY, dtstart=start, interval=interval, byweekday=days, wkst=first)
        case "relativeMonthly":
            return rrule(MONTHLY, dtstart=start, interval=interval, byweekday=days, bysetpos=index)
        case "relativeYearly":
            return rrule(YEARLY, dtstart=start, interval=interval, bymonth=pattern["month"], byweekday=days, bysetpos=index)
        case "absoluteMonthly":
            return month_days(start, start.replace(day=1), interval, pattern["dayOfMonth"])
        case "absoluteYearly":
            return month_days(start, start.replace(day=1, month=pattern["month"]), 12 * interval, pattern["dayOfMonth"])


def every(start, step):
    while True:
        yield start
        start += step


def month_days(start, first, months, day):
    """A month without the day has the instance on its last day."""
    number = 0
    while True:
        local = first + relativedelta(months=months * number, day=day)
        if local >= start:
            yield local
        number += 1
