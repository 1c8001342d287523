"""Where Posthorn differs from dateutil, or from the letter of RFC 5545, and is right. Reasons are those of the judgement."""

NEWER_ZONES = "newer time zones"
START = "the start counts"
WEEK_DAY = "BYWEEKNO without a weekday"
WEEK_SETS = "BYSETPOS in whole weeks"
ODD_PARTS = "odd parts of rules"
UNTIL_DATE = "UNTIL as a date"
DATES_OF_TIMES = "dates in EXDATE and RDATE"
TIMES_OF_DAYS = "times for all-day events"
REGIONS = "regions before descriptions"
OUTLOOK_FREE = "free for Outlook"
FLOATING = "durations of floating times"

JUDGED = {
    NEWER_ZONES: "RFC 7808, 1: zones change; Posthorn ships a newer time zone database than this system has.",
    START: "RFC 5545, 3.8.5.3: a start that its rule does not match is undefined. Google counts it as the first instance.",
    WEEK_DAY: "RFC 5545, 3.3.10: what a rule does not say is that of DTSTART. dateutil takes all seven days.",
    WEEK_SETS: "RFC 5545, 3.3.10: the set is that of the week, which begins with WKST. In dateutil it begins with DTSTART.",
    ODD_PARTS: "RFC 5545, 3.1: unknown parts are ignored; a value that is none is left out. dateutil refuses the rule.",
    UNTIL_DATE: "RFC 5545, 3.3.10 demands a time for events with times. Programs that write a date mean the last day.",
    DATES_OF_TIMES: "RFC 5545, 3.8.5.1 and 3.8.5.2: a date is no time, so a day is meant. dateutil reads midnight.",
    TIMES_OF_DAYS: "RFC 5545, 3.3.10 and 3.8.5.1 demand dates. A time in UTC means midnight where the event takes place, or in UTC.",
    REGIONS: "RFC 7809: the IANA name of a zone is enough, and its rules change. A description may be years old.",
    OUTLOOK_FREE: "[MS-OXCICAL] 2.1.3.1.1.20.31: without TRANSP, X-MICROSOFT-CDO-BUSYSTATUS says whether the time is free.",
    FLOATING: "RFC 5545, 3.3.12: a floating time is the same wall clock everywhere, and so is the end that DURATION gives it.",
}
