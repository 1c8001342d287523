"""Reads generated calendars as JSON from stdin, and writes what takes place in each: by dateutil, with the zones of the system.

Needs python3-dateutil. Each object or event has rows `start/end` in UTC, ` free` behind those that block nothing, and the names of
the judged differences without which it would have others.
"""

import json
import sys
from datetime import datetime

from described import DescribedReader
from judged import JUDGED
from objects import ObjectReader
from series import rows_of
from slots import free_slots, merged
from zones import Regions, instant

ALL = frozenset(JUDGED)
NONE = frozenset()


def main():
    given = json.load(sys.stdin)
    regions = Regions(given["zones"])
    calendars = [expected(calendar, given, regions) for calendar in given["calendars"]]
    newer = {name: iso(at) for name, at in regions.differences.items() if at}
    json.dump({"calendars": calendars, "judged": JUDGED, "newerZones": newer}, sys.stdout)


def expected(calendar, given, regions):
    window = tuple(instant(ms) for ms in calendar["window"])
    shapes = {}
    for shape, items in calendar["shapes"].items():
        units = [unit(reader_of(item, calendar, given, regions), window) for item in items]
        busy = merged(row for rows, _ in units for row in rows)
        zone = regions.zone(calendar["slots"]["zone"], ALL)
        shapes[shape] = {
            "units": [{"rows": [text(row) for row in rows], "judged": names} for rows, names in units],
            "busy": [f"{iso(first)}/{iso(last)}" for first, last in busy],
            "slots": [iso(start) for start in free_slots(calendar["slots"], zone, window, busy)],
        }
    return shapes


def reader_of(item, calendar, given, regions):
    """Returns the series of an item in some reading."""

    def read(judged):
        zone = regions.zone(calendar["zone"], judged)
        if isinstance(item, str):
            return ObjectReader(item, zone, regions, given["windows"], given["me"], judged).series()
        return [DescribedReader(zone, regions, judged).series(item)]

    return read


def unit(read, window):
    """The rows, and which judgements change them."""

    def rows(judged):
        return sorted(row for series, changes in read(judged) for row in rows_of(series, changes, window, judged))

    found = rows(ALL)
    if found == attempt(rows, NONE):
        return found, []
    names = [name for name in JUDGED if attempt(rows, ALL - {name}) != found]
    return found, names or ["several together"]


def attempt(rows, judged):
    try:
        return rows(judged)
    except ValueError:  # dateutil refuses a rule.
        return None


def text(row):
    first, last, is_busy = row
    return f"{iso(first)}/{iso(last)}{'' if is_busy else ' free'}"


def iso(at: datetime):
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


main()
