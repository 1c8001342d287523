"""Writes instances.json and rules.json beside this file: what the service must find, by another implementation.

    apt-get install python3-dateutil && /usr/bin/python3 test/calendars/expected.py && npx biome check --write test/calendars

instances.json: the instances of cases.json, expanded by dateutil, with the time zone database of the system by zoneinfo.
rules.json: random recurrence rules and their starts.
"""

import json
import random
import re
import signal
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

HERE = Path(__file__).parent
UTC = timezone.utc
FAR = datetime(2100, 1, 1)


def parse(text):
    return datetime.strptime(text.rstrip("Z"), "%Y%m%dT%H%M%S" if "T" in text else "%Y%m%d")


def instant(local, zone):
    """fold=0, which is what RFC 5545 demands: the first of two, and the offset before a gap."""
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def place(time, calendar_zone):
    """Start as a naive wall clock, its zone, and whether it is a date."""
    if "date" in time:
        return datetime.fromisoformat(time["date"]), calendar_zone, True
    zone = ZoneInfo(time["timeZone"]) if time["timeZone"] else calendar_zone
    return datetime.fromisoformat(time["dateTime"]), zone, False


def rule_starts(rule, start, zone, last=FAR):
    """Wall clocks of a rule. dateutil knows no zones here, so UNTIL in UTC is applied to the instants."""
    until = re.search(r";UNTIL=(\w+)", rule)
    bare = re.sub(r";UNTIL=\w+", "", rule)
    found = rrulestr(bare, dtstart=start)
    # The start counts for COUNT although the rule does not match it.
    count = re.search(r"COUNT=(\d+)", bare)
    if count and next(iter(found), None) != start:
        left = int(count[1]) - 1
        found = rrulestr(bare.replace(count[0], f"COUNT={left}"), dtstart=start) if left else []
    yield start
    for at in found:
        if at > last:
            return
        if until:
            text = until[1]
            end = parse(text) + (timedelta(days=1, seconds=-1) if "T" not in text else timedelta())
            over = instant(at, zone) > end.replace(tzinfo=UTC) if text.endswith("Z") else at > end
            if over:
                return
        if at != start:
            yield at


def expand(event, calendar_zone, begin, end):
    start, zone, is_date = place(event["start"], calendar_zone)
    until, until_zone, _ = place(event["end"], calendar_zone)
    days = until - start
    exact = instant(until, until_zone) - instant(start, zone)
    last = end.replace(tzinfo=None) + timedelta(days=2)

    def span(local, own_end=None):
        at = instant(local, zone)
        return at, own_end or (instant(local + days, zone) if is_date else at + exact)

    excluded, excluded_days, starts, periods = set(), set(), [], {}
    for line in event["recurrence"]:
        head, value = line.split(":", 1)
        name, *parameters = head.split(";")
        tzid = next((p[5:] for p in parameters if p.startswith("TZID=")), None)
        own = {"India Standard Time": "Asia/Kolkata"}.get(tzid, tzid)
        line_zone = ZoneInfo(own) if own else zone
        if name == "RRULE":
            starts += rule_starts(value, start, zone, last)
            continue
        for item in value.split(","):
            first, *rest = item.split("/")
            local = parse(first)
            at = local.replace(tzinfo=UTC) if first.endswith("Z") else instant(local, line_zone)
            if name == "EXDATE" and "T" in first:
                excluded.add(at)
            elif name == "EXDATE":
                excluded_days.add(local.date())
            elif is_date:
                starts.append(local)
            else:
                wall = at.astimezone(zone).replace(tzinfo=None)
                starts.append(wall)
                if rest and rest[0].startswith("PT"):
                    periods[wall] = at + timedelta(minutes=int(rest[0][2:-1]))
                elif rest:
                    periods[wall] = instant(parse(rest[0]), line_zone)
    for exception in event.get("exceptions", []):
        local, own_zone, _ = place(exception["originalStart"], calendar_zone)
        excluded.add(instant(local, own_zone))

    found = {}
    for local in sorted(set(starts or [start])):
        at, over = span(local, periods.get(local))
        if at not in excluded and local.date() not in excluded_days and at < end and over > begin:
            found.setdefault(at, over)
    rows = list(found.items())
    for exception in event.get("exceptions", []):
        if exception.get("isCancelled"):
            continue
        at, over = (instant(*place(exception[name], calendar_zone)[:2]) for name in ("start", "end"))
        if at < end and over > begin:
            rows.append((at, over))
    return rows


def iso(at):
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def cases():
    result = {}
    for case in json.loads((HERE / "cases.json").read_text()):
        begin, end = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in case["window"])
        rows = [row for event in case["events"] for row in expand(event, ZoneInfo(case["zone"]), begin, end)]
        result[case["name"]] = [f"{iso(at)}/{iso(over)}" for at, over in sorted(rows)]
    return result


WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def random_rule(rng, start):
    def some(values, most):
        return ",".join(str(value) for value in rng.sample(list(values), rng.randint(1, most)))

    def signed(most):
        return [number for number in range(-most, most + 1) if number]

    frequency = rng.choice(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"])
    is_fine = frequency in ("HOURLY", "MINUTELY", "SECONDLY")
    parts = [f"FREQ={frequency}"]
    chance = lambda share: rng.random() < share  # noqa: E731
    if chance(0.5):
        parts.append(f"INTERVAL={rng.choice([2, 3, 5, 7, 15, 50, 700] if is_fine else [2, 3, 4])}")
    if chance(0.3):
        parts.append(f"COUNT={rng.choice([1, 2, 7, 40, 300])}")
    if chance(0.25):
        parts.append(f"BYMONTH={some(range(1, 13), 3)}")
    by_week = frequency == "YEARLY" and chance(0.3)
    if by_week:
        parts.append(f"BYWEEKNO={some(signed(53), 3)}")
    if frequency in ("YEARLY", "HOURLY", "MINUTELY", "SECONDLY") and chance(0.15):
        parts.append(f"BYYEARDAY={some(signed(366), 4)}")
    if frequency != "WEEKLY" and chance(0.2):
        parts.append(f"BYMONTHDAY={some(signed(31), 5)}")
    if chance(0.4):
        numbered = frequency in ("YEARLY", "MONTHLY") and not by_week and chance(0.6)
        names = [f"{rng.choice([1, 2, 3, 4, 5, -1, -2]) if numbered else ''}{day}" for day in WEEKDAYS]
        parts.append(f"BYDAY={some(names, 3)}")
    elif by_week:
        # Where the rule does not name a weekday it is the one of the start. dateutil takes all seven.
        parts.append(f"BYDAY={WEEKDAYS[start.weekday()]}")
    if chance(0.2):
        parts.append(f"BYHOUR={some(range(24), 4)}")
    if chance(0.15):
        parts.append(f"BYMINUTE={some(range(60), 3)}")
    if chance(0.1):
        parts.append(f"BYSECOND={some(range(60), 3)}")
    if len(parts) > 2 and chance(0.3):
        parts.append(f"BYSETPOS={some(signed(3), 2)}")
    if frequency == "WEEKLY" and "BYSETPOS" in parts[-1]:
        # The set is the whole week of the start. For dateutil it begins at the start: the same if weeks begin there.
        parts.append(f"WKST={WEEKDAYS[start.weekday()]}")
    elif chance(0.3):
        parts.append(f"WKST={rng.choice(WEEKDAYS)}")
    return ";".join(parts)


class TooLong(Exception):
    pass


def too_long(*_):
    raise TooLong


# Days after the start, and days, of the window.
WINDOWS = {"SECONDLY": ([-1, 0, 0.1], 0.5), "MINUTELY": ([-1, 0, 3], 20), "HOURLY": ([-1, 0, 90], 90)}


def rules(count, seed):
    rng = random.Random(seed)
    rows = []
    # dateutil walks to the year 9999 when a rule matches nothing. Such rules are left out.
    signal.signal(signal.SIGVTALRM, too_long)
    while len(rows) < count:
        start = datetime(2024, 1, 1) + timedelta(seconds=rng.randrange(3 * 365 * 86400))
        rule = random_rule(rng, start)
        after, days = WINDOWS.get(re.search(r"FREQ=(\w+)", rule)[1], ([-5, 0, 10, 400], 800))
        begin = (start + timedelta(days=rng.choice(after))).replace(microsecond=0)
        end = begin + timedelta(days=days)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.5)
        try:
            starts = [at for at in rule_starts(rule, start, UTC, end) if begin <= at < end]
        except (ValueError, TooLong):  # ValueError: dateutil knows that the rule matches nothing.
            continue
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if not starts:
            continue
        # Long series by their first instances, their number and their last one.
        first = " ".join(at.strftime("%Y%m%dT%H%M%S") for at in starts[:6])
        window = {"start": start.isoformat(), "from": begin.isoformat(), "to": end.isoformat()}
        starts = starts[:500]
        rows.append({"rule": rule, **window, "first": first, "count": len(starts), "last": starts[-1].isoformat()})
    return rows


def write(name, value):
    (HERE / name).write_text(json.dumps(value) + "\n")


if __name__ == "__main__":
    write("instances.json", cases())
    write("rules.json", rules(300, 5545))
