"""Reads the events of a calendar object."""

import re
from datetime import datetime, timedelta

from content_lines import parse_object
from dateutil.rrule import rrulestr
from judged import FLOATING, OUTLOOK_FREE, REGIONS
from rules import parse
from series import Change, Series, Span, Time
from zones import KNOWN, Changes, as_utc

LAST_YEAR = 2032
DURATION = re.compile(r"([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
# Zones by their descriptions, which many objects have.
DESCRIBED = {}


class ObjectReader:
    """`zone` is that of the calendar, `me` the address of the user, `windows` the zones that Windows names."""

    def __init__(self, text, zone, regions, windows, me, judged):
        self.calendar = parse_object(text)
        self.zone = zone
        self.regions = regions
        self.windows = windows
        self.me = me
        self.judged = judged
        self.described = {one.value("TZID"): one for one in self.calendar.children("VTIMEZONE")}

    def series(self):
        """The series or single event of each UID, with its exceptions."""
        by_uid = {}
        for event in self.calendar.children("VEVENT"):
            by_uid.setdefault(event.value("UID"), []).append(event)
        return [self.of_uid(events) for events in by_uid.values()]

    def of_uid(self, events):
        masters = [event for event in events if not event.first("RECURRENCE-ID")]
        master = self.master(masters[0]) if masters else None
        newest = {}
        for event in events:
            if event.first("RECURRENCE-ID"):
                change = self.change(event, master)
                key = change.original.instant()
                sequence = int(event.value("SEQUENCE") or 0)
                if key not in newest or newest[key][0] < sequence:
                    newest[key] = (sequence, change)
        return master, [change for _, change in newest.values()]

    def master(self, event):
        span = self.span(event)
        return Series(
            span=span,
            is_busy=self.is_busy(event),
            is_cancelled=event.value("STATUS") == "CANCELLED",
            rules=[line.value for line in event.all("RRULE")],
            excluded_rules=[line.value for line in event.all("EXRULE")],
            added=[date for line in event.all("RDATE") for date in self.dates(line, span.start.zone)],
            excluded=[date for line in event.all("EXDATE") for date, _ in self.dates(line, span.start.zone)],
        )

    def change(self, event, master):
        line = event.first("RECURRENCE-ID")
        original = self.time(line)
        is_floating = "TZID" not in line.parameters and not original.is_utc and not original.is_date
        if is_floating and master:
            original.zone = master.span.start.zone
        is_cancelled = event.value("STATUS") == "CANCELLED"
        is_range = line.parameters.get("RANGE") == "THISANDFUTURE"
        return Change(original, None if is_cancelled else self.span(event), self.is_busy(event), is_range)

    def span(self, event):
        start = self.time(event.first("DTSTART"))
        end = event.first("DTEND")
        if end:
            return Span(start, self.time(end))
        sign, *parts = DURATION.fullmatch(event.value("DURATION") or ("P1D" if start.is_date else "PT0S")).groups()
        weeks, days, hours, minutes, seconds = (int(part or 0) for part in parts)
        if sign == "-":
            return Span(start)
        days += 7 * weeks
        rest = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        is_floating = "TZID" not in event.first("DTSTART").parameters and not start.is_utc and not start.is_date
        if is_floating and FLOATING in self.judged:
            local = start.local + timedelta(days=days)
            rest = start.zone.to_utc(local + rest) - start.zone.to_utc(local)
        return Span(start, days=days, rest=rest)

    def time(self, line):
        return self.value_time(line.value, self.zone_of(line, self.zone))

    def value_time(self, text, zone):
        is_utc = text.endswith("Z")
        return Time(parse(text), self.regions.zone("UTC", self.judged) if is_utc else zone, "T" not in text, is_utc)

    def dates(self, line, zone):
        """Times with the ends of their periods."""
        zone = self.zone_of(line, zone)
        for item in line.value.split(","):
            first, *rest = item.split("/")
            time = self.value_time(first, zone)
            if not rest:
                yield time, None
            elif rest[0].startswith("P"):
                _, _, days, hours, minutes, _ = DURATION.fullmatch(rest[0]).groups()
                yield time, time.instant() + timedelta(days=int(days or 0), hours=int(hours or 0), minutes=int(minutes or 0))
            else:
                yield time, self.value_time(rest[0], zone).instant()

    def zone_of(self, line, otherwise):
        tzid = line.parameters.get("TZID", "").replace("\\,", ",")
        if tzid == "":
            return otherwise
        region = self.region_of(tzid)
        description = self.described.get(tzid) or self.described.get(tzid.replace(",", "\\,"))
        if region and (REGIONS in self.judged or not description):
            return self.regions.zone(region, self.judged)
        if description:
            location = self.region_of(description.value("X-LIC-LOCATION"))
            is_named = location and REGIONS in self.judged
            return self.regions.zone(location, self.judged) if is_named else self.described_zone(description)
        return self.regions.zone(tzid, self.judged) if tzid in KNOWN else otherwise

    def described_zone(self, description):
        key = repr(description.components)
        if key not in DESCRIBED:
            DESCRIBED[key] = described_zone(description)
        return DESCRIBED[key]

    def region_of(self, tzid):
        """`Europe/Berlin`, behind a path, before a comment, or by the name of Windows."""
        name = re.sub(r" \([^()]*\)$", "", tzid)
        if name in self.windows:
            return self.windows[name]
        parts = name.split("/")
        ends = ("/".join(parts[-length:]) for length in (len(parts), 3, 2))
        return next((end for end in ends if "/" in end and end in KNOWN), None)

    def is_busy(self, event):
        if any(line.value.lower() == f"mailto:{self.me}" and line.parameters.get("PARTSTAT") == "DECLINED" for line in event.all("ATTENDEE")):
            return False
        if not event.first("TRANSP") and OUTLOOK_FREE in self.judged:
            return event.value("X-MICROSOFT-CDO-BUSYSTATUS") != "FREE"
        return event.value("TRANSP") != "TRANSPARENT"


def described_zone(description):
    """RFC 5545, 3.6.5: every onset is a wall clock in the offset before it."""
    changes = []
    for observance in description.components:
        before, after = (offset_of(observance.value(name)) for name in ("TZOFFSETFROM", "TZOFFSETTO"))
        for onset in onsets_of(observance, before):
            changes.append((as_utc(onset) - before, after, before))
    changes.sort(key=lambda change: change[0])
    return Changes(changes[0][2], [(at, after) for at, after, _ in changes])


def onsets_of(observance, before):
    start = parse(observance.value("DTSTART"))
    yield start
    for line in observance.all("RDATE"):
        yield from (parse(item) for item in line.value.split(","))
    for line in observance.all("RRULE"):
        until = re.search(r";UNTIL=(\w+)", line.value)
        end = parse(until[1]) + before if until else datetime(LAST_YEAR, 1, 1)
        yield from rrulestr(re.sub(r";UNTIL=\w+", "", line.value), dtstart=start).between(start, end, inc=True)


def offset_of(text):
    sign = -1 if text[0] == "-" else 1
    return sign * timedelta(hours=int(text[1:3]), minutes=int(text[3:5]))
