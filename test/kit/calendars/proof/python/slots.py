"""The slots of open hours that are free, from the documentation of the scheduler."""

from datetime import timedelta

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


def free_slots(question, zone, window, busy):
    """Starts. `busy` are times that do not touch, in order."""
    begin, end = window
    length = timedelta(minutes=question["length"])
    step = timedelta(minutes=question["step"])
    before, after = (timedelta(minutes=question[name]) for name in ("before", "after"))
    for hours in joined(hours_in(question, zone, window)):
        for number, start in enumerate(hours["begins"]):
            following = hours["begins"][number + 1 :]
            while start + length <= hours["end"] and start not in following[:1]:
                if following and start > following[0]:
                    break
                is_free = all(one[1] <= start - before or one[0] >= start + length + after for one in busy)
                if begin <= start and start + length <= end and is_free:
                    yield start
                start += step


def hours_in(question, zone, window):
    day = zone.to_local(window[0]).replace(hour=0, minute=0, second=0) - 2 * DAY
    while day <= zone.to_local(window[1]):
        if day.weekday() in question["days"]:
            start, end = (day + question[name] * MINUTE for name in ("opens", "closes"))
            first, last = edge(zone, start, False), edge(zone, end if end > start else end + DAY, True)
            if first < last:
                yield first, last
        day += DAY


def edge(zone, local, is_end):
    """Where clocks skip the time, the first instant after it. Of a time that is there twice, an end is the second."""
    change = zone.to_utc(local)
    if zone.to_local(change) == local:
        return zone.to_utc(local, second=is_end)
    while zone.offset_at(change - MINUTE) == zone.offset_at(change):
        change -= MINUTE
    return change


def joined(times):
    found = []
    for first, last in sorted(times):
        if found and first <= found[-1]["end"]:
            found[-1]["end"] = max(found[-1]["end"], last)
            if first > found[-1]["begins"][-1]:
                found[-1]["begins"].append(first)
        else:
            found.append({"begins": [first], "end": last})
    return found


def merged(rows):
    """Times that are busy, joined where they touch."""
    found = []
    for first, last, is_busy in sorted(rows):
        if not is_busy:
            continue
        if found and first <= found[-1][1]:
            found[-1][1] = max(found[-1][1], last)
        elif first < last:
            found.append([first, last])
    return found
