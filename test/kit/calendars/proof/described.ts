import type { PatternedRecurrence } from '../../../servers/microsoft/pattern.ts'

/** How a provider writes its events. */
export const SHAPES = ['caldav', 'google', 'microsoft'] as const
export type Shape = (typeof SHAPES)[number]

/** Wall clocks `2026-03-29T02:30:00`, or dates for an all-day event. */
export interface DescribedTimes {
  start: string
  end: string
  /** IANA. Null: that of the calendar, for dates and floating times, or a zone that only the object describes. */
  zone: string | null
  /** Null: the same as the start. */
  endZone: string | null
  /** True for the second of two starts at the same local time. */
  isSecond: boolean
}

export interface DescribedChange {
  /** In the zone of the series. */
  original: string
  /** Null: the instance is cancelled. */
  times: DescribedTimes | null
  isFree: boolean
}

/** An event, without regard to a provider. Python reads it in this form. */
export interface DescribedEvent {
  uid: string
  times: DescribedTimes
  /** The value of an RRULE. Of a series with a pattern, what it means in RFC 5545. */
  rule: string | null
  pattern: PatternedRecurrence | null
  added: string[]
  excluded: string[]
  exceptions: DescribedChange[]
  state: 'busy' | 'free' | 'tentative' | 'declined' | 'cancelled'
}

/** Where a calendar object gives its zone. */
export type ZoneForm =
  | 'region'
  | 'stale'
  | 'windows'
  | 'path'
  | 'comment'
  | 'dates'
  | 'rules'
  | 'outlook'
  | 'location'
  | 'own'

/** How a calendar object says what is described, where there are several ways. */
export interface Writing {
  zone: ZoneForm
  /** The VTIMEZONE of a zone that exists nowhere else. */
  ownZone: string[]
  /** In place of DTEND. */
  duration: string | null
  /** EXDATE and RDATE; `floating` without a zone. */
  dates: 'zone' | 'utc' | 'date' | 'floating'
  /** RECURRENCE-ID. */
  originals: 'zone' | 'utc' | 'floating'
  /** Which exception has RANGE=THISANDFUTURE. */
  rangeIndex: number | null
  /** Each exception is there in an older version, too. */
  hasOldVersions: boolean
  /** X-MICROSOFT-CDO-BUSYSTATUS in place of TRANSP. */
  isFreeForOutlook: boolean
  /** Further lines of the master. */
  lines: string[]
}

export interface GeneratedEvent {
  /** For the table of the report: of the event, and of its calendar object. */
  kinds: { event: string[]; writing: string[] }
  event: DescribedEvent
  writing: Writing
  shapes: Shape[]
}

export const ME = 'ann@example.com'
