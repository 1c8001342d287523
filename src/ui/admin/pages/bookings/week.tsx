import './bookings.css'
import { ActionIcon, Alert, Button, Group, Paper, Text } from '@mantine/core'
import type { CSSProperties } from 'react'
import { Link } from 'wouter'
import type { Query } from '../../api/client.ts'
import { useRead } from '../../api/queries.ts'
import type { Booking, List } from '../../api/types.ts'
import { IconChevronLeft, IconChevronRight } from '../../parts/icons.tsx'
import { Problem } from '../../parts/problem.tsx'
import { meetingTime } from '../../parts/time.tsx'
import { BOOKING_STATUSES, isOpen } from './status.tsx'
import { dayStart, formatDate, mondayOf, plusDays, sideBySide } from './week-days.ts'

/** The most that one request returns. */
const LIMIT = 200
const HOUR_PX = 44
/** Shown also when nothing is booked then. */
const DAY = { from: 8, to: 18 }

const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' })
const longDay = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })
const monthName = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric' })
const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })
const hourName = new Intl.DateTimeFormat(undefined, { hour: 'numeric' })
const zoneName = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** The bookings of a week, in the viewer's zone: a calendar, and on narrow screens a list by day. */
export function Week({ query, first, onWeek }: { query: Query; first: string; onWeek(monday: string): void }) {
  const monday = mondayOf(first === '' ? new Date() : dayStart(first))
  const days = Array.from({ length: 7 }, (_, index) => plusDays(monday, index))
  const { data, error, refetch } = useRead<List<'bookings', Booking>>(
    '/scheduler/bookings',
    { ...query, from: monday.toISOString(), to: plusDays(monday, 7).toISOString(), order: 'asc', limit: LIMIT },
    { live: ['booking.'] },
  )
  const bookings = data?.bookings ?? []
  const hours = bookings.flatMap(({ slot }) => {
    const [start, end] = [new Date(slot.start), new Date(slot.end)]
    const isSameDay = formatDate(start) === formatDate(end)
    return [start.getHours(), isSameDay ? Math.ceil(end.getHours() + end.getMinutes() / 60) : 24]
  })
  const from = Math.min(DAY.from, ...hours)
  const to = Math.max(DAY.to, ...hours)
  const marks = Array.from({ length: to - from - 1 }, (_, index) => from + 1 + index)
  const today = formatDate(new Date())
  return (
    <div className="stack-sm">
      <Group justify="space-between">
        <Group gap="xs">
          <ActionIcon
            variant="default"
            size="lg"
            aria-label="Previous week"
            onClick={() => onWeek(formatDate(plusDays(monday, -7)))}
          >
            <IconChevronLeft />
          </ActionIcon>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label="Next week"
            onClick={() => onWeek(formatDate(plusDays(monday, 7)))}
          >
            <IconChevronRight />
          </ActionIcon>
          <Button variant="default" onClick={() => onWeek('')}>
            Today
          </Button>
          <Text fw={600} role="status">
            {monthName.formatRange(monday, plusDays(monday, 6))}
          </Text>
        </Group>
        <Text size="sm" c="dimmed">
          Times in {zoneName()}
        </Text>
      </Group>
      {error !== null && (
        <Problem title="The bookings could not be read" error={error} onRetry={() => void refetch()} />
      )}
      {data?.pagination.hasNext === true && (
        <Alert color="orange">The first {LIMIT} bookings of this week are shown. Filter them, or use the list.</Alert>
      )}
      <Paper withBorder className="calendar" aria-busy={data === undefined}>
        <div className="calendar-hours" aria-hidden="true" style={{ height: (to - from) * HOUR_PX }}>
          {marks.map((hour) => (
            <span key={hour} style={{ top: (hour - from) * HOUR_PX }}>
              {hourName.format(new Date(2026, 0, 1, hour))}
            </span>
          ))}
        </div>
        {days.map((day) => {
          const text = formatDate(day)
          const own = sideBySide(bookings.filter(({ slot }) => formatDate(new Date(slot.start)) === text))
          return (
            <section
              key={text}
              className="calendar-day"
              aria-label={longDay.format(day)}
              data-empty={own.length === 0 || undefined}
            >
              <div className="calendar-head" data-today={text === today || undefined}>
                {dayName.format(day)}
              </div>
              <div className="calendar-column" style={sizes({ height: `${(to - from) * HOUR_PX}px` })}>
                {own.map(({ booking, column, columns }) => {
                  const [start, end] = [new Date(booking.slot.start), new Date(booking.slot.end)]
                  const top = (start.getTime() - day.getTime()) / 3_600_000 - from
                  const length = (end.getTime() - start.getTime()) / 3_600_000
                  const { label } = BOOKING_STATUSES[booking.status]
                  return (
                    <Link
                      key={booking.id}
                      href={`/bookings/${booking.id}`}
                      className="calendar-booking"
                      data-status={booking.status}
                      title={`${booking.guest.name || booking.guest.email}, ${label}\n${meetingTime(booking.slot.start)}`}
                      style={sizes({
                        top: `${top * HOUR_PX + 1}px`,
                        height: `${Math.max(20, Math.min(length, to - from - top) * HOUR_PX - 2)}px`,
                        left: `calc(${(column / columns) * 100}% + 2px)`,
                        width: `calc(${100 / columns}% - 4px)`,
                      })}
                    >
                      <b>{clock.format(start)}</b> <span>{booking.guest.name || booking.guest.email}</span>
                      {!isOpen(booking) && <span className="visually-hidden">{label}</span>}
                    </Link>
                  )
                })}
              </div>
            </section>
          )
        })}
      </Paper>
      {data !== undefined && bookings.length === 0 && (
        <Text size="sm" c="dimmed" ta="center">
          Nothing is booked in this week.
        </Text>
      )}
    </div>
  )
}

/** Variables, because narrow screens have rules of their own. */
function sizes(values: Record<string, string>): CSSProperties {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`--${name}`, value]))
}
