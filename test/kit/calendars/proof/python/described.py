"""Reads events as the generator describes them, before it writes them as a provider does."""

from datetime import datetime

from series import Change, Series, Span, Time


class DescribedReader:
    def __init__(self, zone, regions, judged):
        self.zone = zone
        self.regions = regions
        self.judged = judged

    def series(self, event):
        span = self.span(event["times"])
        state = event["state"]
        master = Series(
            span=span,
            is_busy=state not in ("free", "declined"),
            is_cancelled=state == "cancelled",
            rules=[event["rule"]] if event["rule"] else [],
            pattern=event["pattern"],
            added=[(self.wall(wall, span.start.zone), None) for wall in event["added"]],
            excluded=[self.wall(wall, span.start.zone) for wall in event["excluded"]],
        )
        return master, [self.change(change, span.start.zone) for change in event["exceptions"]]

    def change(self, change, zone):
        times = change["times"]
        return Change(self.wall(change["original"], zone), times and self.span(times), not change["isFree"])

    def span(self, times):
        zone = self.regions.zone(times["zone"], self.judged) if times["zone"] else self.zone
        end_zone = self.regions.zone(times["endZone"], self.judged) if times["endZone"] else zone
        start = self.wall(times["start"], zone)
        start.is_second = times["isSecond"]
        return Span(start, self.wall(times["end"], end_zone))

    def wall(self, text, zone):
        return Time(datetime.fromisoformat(text), zone, "T" not in text)
