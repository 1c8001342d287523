import { Text, Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'

/** The shortest time that a text names, and how often texts change. */
const TICK_MS = 5000
const RECENT_MS = 15_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const sameYear = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
})
const otherYear = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' })
const exact = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
})

const meeting = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
})

/** The zone of every time that the portal shows. */
export const ZONE = exact.resolvedOptions().timeZone

/** All times of the page change together, now and then. */
function useNow(): number {
  return useSyncExternalStore(subscribe, now)
}

function subscribe(onChange: () => void): () => void {
  const timer = window.setInterval(onChange, TICK_MS)
  return () => window.clearInterval(timer)
}

const now = () => Math.floor(Date.now() / TICK_MS) * TICK_MS

interface TimeProps {
  value: string | null | undefined
  /** Shown without a value. */
  none?: string
  /** Counts seconds, too. */
  hasSeconds?: boolean
}

/** A time in the viewer's zone: near ones relative to now. The exact instant is shown on hover and focus. */
export function Time({ value, none = '–', hasSeconds = false }: TimeProps) {
  const nowMs = useNow()
  if (value === null || value === undefined)
    return (
      <Text span inherit c="dimmed">
        {none}
      </Text>
    )
  const date = new Date(value)
  return (
    <Tooltip label={exactTime(value)} withArrow events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={value} className="time">
        {shortTime(date, nowMs, hasSeconds)}
      </time>
    </Tooltip>
  )
}

/** The exact instant, for places where the difference of seconds matters. */
export function exactTime(value: string): string {
  return exact.format(new Date(value))
}

function shortTime(date: Date, nowMs: number, hasSeconds: boolean): string {
  const difference = date.getTime() - nowMs
  const distance = Math.abs(difference)
  if (distance < MINUTE_MS && hasSeconds) return relative.format(Math.min(0, Math.round(difference / 1000)), 'second')
  if (distance < MINUTE_MS) return difference > RECENT_MS ? 'in a moment' : 'just now'
  if (distance < HOUR_MS) return relative.format(Math.round(difference / MINUTE_MS), 'minute')
  if (distance < DAY_MS) return relative.format(Math.round(difference / HOUR_MS), 'hour')
  if (distance < 300 * DAY_MS) return sameYear.format(date)
  return otherYear.format(date)
}

/** When a meeting is, to the minute. */
export function meetingTime(value: string): string {
  return meeting.format(new Date(value))
}

/** A length of time such as `340 ms`, `2.4 s`, `5 min` or `3 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < MINUTE_MS) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`
  if (ms < 2 * DAY_MS) return `${Math.round(ms / HOUR_MS)} h`
  return `${Math.round(ms / DAY_MS)} days`
}
