"""Reads iCalendar objects, a JSON list of texts on stdin, with icalendar and vobject. Writes what each of them understood as JSON.

Needs python3-icalendar and python3-vobject.
"""

import json
import sys
from datetime import timezone

import icalendar
import vobject


def utc(time):
    return time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_icalendar(text):
    calendar = icalendar.Calendar.from_ical(text)
    events = calendar.walk("VEVENT")
    (event,) = events
    errors = [str(error) for component in calendar.walk() for error in component.errors]
    return {
        "errors": errors,
        "method": str(calendar["METHOD"]),
        "uid": str(event["UID"]),
        "sequence": int(event["SEQUENCE"]),
        "status": str(event["STATUS"]),
        "start": utc(event["DTSTART"].dt),
        "end": utc(event["DTEND"].dt),
        "summary": str(event["SUMMARY"]),
        "location": str(event.get("LOCATION", "")),
        "description": str(event.get("DESCRIPTION", "")),
    }


def with_vobject(text):
    calendar = vobject.readOne(text)
    (event,) = calendar.vevent_list
    calendar.validate(raiseException=True)
    value = lambda name: getattr(event, name).value if hasattr(event, name) else ""
    return {
        "errors": [],
        "method": calendar.method.value,
        "uid": value("uid"),
        "sequence": int(value("sequence")),
        "status": value("status"),
        "start": utc(value("dtstart")),
        "end": utc(value("dtend")),
        "summary": value("summary"),
        "location": value("location"),
        "description": value("description"),
    }


texts = json.load(sys.stdin)
json.dump([{"icalendar": with_icalendar(text), "vobject": with_vobject(text)} for text in texts], sys.stdout)
