"""Events as RFC 5545 describes them, and the rows of their instances."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from judged import DATES_OF_TIMES
from rules import day_in, pattern_starts, rule_starts


@dataclass
class Time:
    """A wall clock, or a date, in a zone: its own or that of the calendar."""

    local: datetime
    zone: object
    is_date: bool = False
    is_utc: bool = False
    is_second: bool = False

    def instant(self):
        return self.zone.to_utc(self.local, self.is_second)


@dataclass
class Span:
    """Ends with a time, or after days of the wall clock and an exact rest."""

    start: Time
    end: Time | None = None
    days: int = 0
    rest: timedelta = timedelta()

    def end_of(self, local, at):
        """RFC 5545, 3.8.5.3: instances last exactly as long as DTEND says, and nominally as long as DURATION says."""
        zone = self.start.zone
        if self.start.is_date:
            days = max(1, (self.end.local.date() - self.start.local.date()).days if self.end else self.days)
            return zone.to_utc(local + timedelta(days=days))
        if self.end:
            return at + max(timedelta(), self.end.instant() - self.start.instant())
        return (zone.to_utc(local + timedelta(days=self.days)) if self.days else at) + self.rest

    def instants(self):
        at = self.start.instant()
        return at, self.end_of(self.start.local, at)


@dataclass
class Change:
    """An instance that differs. Without a span it does not take place."""

    original: Time
    span: Span | None
    is_busy: bool = True
    is_range: bool = False


@dataclass
class Series:
    """Or a single event. Dates in lists are `Time`, those in `added` with the end of their period."""

    span: Span
    is_busy: bool = True
    is_cancelled: bool = False
    rules: list = field(default_factory=list)
    excluded_rules: list = field(default_factory=list)
    pattern: dict | None = None
    added: list = field(default_factory=list)
    excluded: list = field(default_factory=list)


def rows_of(series, changes, window, judged):
    """Start, end and whether it is busy, of every instance that overlaps the window."""
    begin, end = window
    rows = []
    if series is not None and not series.is_cancelled:
        rows += instances(series, changes, end, judged)
    rows += [(*change.span.instants(), change.is_busy) for change in changes if change.span]
    return sorted(row for row in rows if row[0] < end and row[1] > begin)


def instances(series, changes, end, judged):
    start = series.span.start
    zone = start.zone
    moves = sorted(moves_of(changes, start, judged), key=lambda move: move.original)
    furthest = max([timedelta(), *(abs(move.delta) for move in moves)])
    last = end.replace(tzinfo=None) + timedelta(days=3) + furthest
    excluded, excluded_days = exclusions(series, changes, last, judged)
    found = {}
    for local, at, own_end in starts_of(series, last, judged):
        if at in excluded or local.date() in excluded_days or at in found:
            continue
        move = next((move for move in reversed(moves) if move.original <= local), None)
        if move is None:
            found[at] = (at, own_end or series.span.end_of(local, at), series.is_busy)
        elif move.span is not None:
            local += move.delta
            at_moved = zone.to_utc(local)
            found[at] = (at_moved, move.span.end_of(local, at_moved), move.is_busy)
    return found.values()


def starts_of(series, last, judged):
    """Wall clock, instant, and the end of a period. An instance that is there twice is the first one."""
    start = series.span.start
    rules = [rule_starts(text, start, last, judged) for text in series.rules]
    if series.pattern:
        rules.append(pattern_starts(series.pattern, start.local, last))
    for local in [start.local] if not rules else (local for rule in rules for local in rule):
        if start.is_date:
            local = datetime.combine(local.date(), datetime.min.time())
        is_first = local == start.local
        yield local, start.zone.to_utc(local, start.is_second and is_first), None
    for time, end in series.added:
        if start.is_date:
            local = datetime.combine(day_of(time, start, judged), datetime.min.time())
            yield local, start.zone.to_utc(local), None
        elif time.is_date:
            clock = start.local.time() if DATES_OF_TIMES in judged else datetime.min.time()
            local = datetime.combine(time.local.date(), clock)
            yield local, start.zone.to_utc(local), None
        else:
            at = time.instant()
            yield start.zone.to_local(at), at, end


def day_of(time, start, judged):
    return day_in(start, time.local, time.is_utc, judged)


def exclusions(series, changes, last, judged):
    start = series.span.start
    instants, days = set(), set()
    for time in [*series.excluded, *(change.original for change in changes)]:
        if start.is_date:
            days.add(day_of(time, start, judged))
        elif time.is_date and DATES_OF_TIMES in judged:
            days.add(time.local.date())
        else:
            instants.add(time.instant())
    for text in series.excluded_rules:
        instants.update(start.zone.to_utc(local) for local in rule_starts(text, start, last, judged))
    return instants, days


@dataclass
class Move:
    """From a wall clock on, instances are this much later. Without a span they do not take place."""

    original: datetime
    delta: timedelta
    span: Span | None
    is_busy: bool


def moves_of(changes, start, judged):
    """RFC 5545, 3.2.13 and 3.8.4.4: what an exception with RANGE=THISANDFUTURE changes, it changes in all that follow."""
    for change in changes:
        if change.is_range:
            original = local_in(start, change.original, judged)
            moved = local_in(start, change.span.start, judged) if change.span else original
            yield Move(original, moved - original, change.span, change.is_busy)


def local_in(start, time, judged):
    if start.is_date:
        return datetime.combine(day_of(time, start, judged), datetime.min.time())
    return time.local if time.is_date else start.zone.to_local(time.instant())
