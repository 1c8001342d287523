"""Time zones: those of the system, those that a newer database has changed, and those that a VTIMEZONE describes."""

from bisect import bisect_right
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from judged import NEWER_ZONES

UTC = timezone.utc
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
KNOWN = available_timezones()


class Region:
    def __init__(self, name):
        self.info = ZoneInfo(name)

    def offset_at(self, at):
        return at.astimezone(self.info).utcoffset()

    def to_local(self, at):
        return at.astimezone(self.info).replace(tzinfo=None)

    def to_utc(self, local, second=False):
        """RFC 5545, 3.3.5: the first of two, and the offset before a gap, both of which are fold=0."""
        return local.replace(tzinfo=self.info, fold=int(second)).astimezone(UTC)


class Changes:
    """A zone as a list of instants from which an offset counts."""

    def __init__(self, first, changes):
        self.offsets = [first, *(offset for _, offset in changes)]
        self.instants = [at for at, _ in changes]

    def offset_at(self, at):
        return self.offsets[bisect_right(self.instants, at)]

    def to_local(self, at):
        return (at + self.offset_at(at)).replace(tzinfo=None)

    def to_utc(self, local, second=False):
        at = as_utc(local)
        around = [self.offset_at(at - DAY), self.offset_at(at + DAY)]
        found = [at - offset for offset in around if self.offset_at(at - offset) == offset]
        return (max(found) if second else min(found)) if found else at - around[0]


class Regions:
    """The zones of the world, with those of a newer database: lists of changes, in milliseconds, by name."""

    def __init__(self, newer):
        self.newer = {name: Changes(milliseconds(first), [(instant(at), milliseconds(offset)) for at, offset in changes]) for name, (first, changes) in newer.items()}
        self.differences = {name: first_difference(Region(name), zone) for name, zone in self.newer.items()}

    def zone(self, name, judged):
        return self.newer[name] if NEWER_ZONES in judged and self.differences.get(name) else region(name)


@lru_cache
def region(name):
    return Region(name)


def as_utc(local):
    return local.replace(tzinfo=UTC)


def milliseconds(value):
    return timedelta(milliseconds=value)


def instant(ms):
    return datetime.fromtimestamp(ms / 1000, UTC)


def first_difference(one, other):
    """In the years of the generated calendars, to the hour."""
    at = datetime(2024, 7, 1, tzinfo=UTC)
    while one.offset_at(at) == other.offset_at(at):
        at += DAY
        if at.year == 2030:
            return None
    while one.offset_at(at - HOUR) != other.offset_at(at - HOUR):
        at -= HOUR
    return at
