import { ActionIcon, Badge, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { type KeyboardEvent, useRef, useState } from 'react'
import type { Availability } from '../../../api/types.ts'
import { IconChevronLeft, IconChevronRight, IconPlus, IconTrash } from '../../../parts/icons.tsx'
import { formatClock, parseMinutes } from './blocks.ts'
import { ClockField } from './day-fields.tsx'

type Override = NonNullable<Availability['overrides']>[number]

const DAY_MS = 86_400_000
const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })
const dayName = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeZone: 'UTC' })
const shortDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const HEAD = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const KEYS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }

/** Dates with hours of their own. Dates are handled in UTC, because they are days of the calendar and no instants. */
export function Overrides({ value, onChange }: { value: readonly Override[]; onChange(value: Override[]): void }) {
  const [chosen, setChosen] = useState(() => formatDate(new Date()))
  const [month, setMonth] = useState(() => chosen.slice(0, 7))
  const grid = useRef<HTMLFieldSetElement>(null)
  const first = new Date(`${month}-01T00:00:00Z`)
  const start = first.getTime() - ((first.getUTCDay() + 6) % 7) * DAY_MS
  const days = Array.from({ length: 42 }, (_, index) => formatDate(new Date(start + index * DAY_MS)))
  const of = (date: string) => value.filter((override) => override.date === date)
  const show = (date: string) => {
    setChosen(date)
    setMonth(date.slice(0, 7))
  }
  const step = (months: number) => {
    const next = new Date(first)
    next.setUTCMonth(next.getUTCMonth() + months)
    setMonth(formatDate(next).slice(0, 7))
  }
  const onKeyDown = (event: KeyboardEvent, date: string) => {
    const by = KEYS[event.key]
    if (by === undefined) return
    event.preventDefault()
    const next = formatDate(new Date(Date.parse(`${date}T00:00:00Z`) + by * DAY_MS))
    show(next)
    requestAnimationFrame(() => grid.current?.querySelector<HTMLElement>(`[data-date="${next}"]`)?.focus())
  }
  const set = (date: string, overrides: Override[]) =>
    onChange(
      [...value.filter((override) => override.date !== date), ...overrides].sort((a, b) =>
        a.date.localeCompare(b.date),
      ),
    )
  return (
    <div className="overrides">
      <div>
        <Group justify="space-between" mb="xs">
          <Text fw={550} aria-live="polite">
            {monthName.format(first)}
          </Text>
          <Group gap={4}>
            <ActionIcon variant="default" aria-label="Previous month" onClick={() => step(-1)}>
              <IconChevronLeft size={16} />
            </ActionIcon>
            <ActionIcon variant="default" aria-label="Next month" onClick={() => step(1)}>
              <IconChevronRight size={16} />
            </ActionIcon>
          </Group>
        </Group>
        <fieldset className="month" ref={grid} aria-label="Dates">
          {HEAD.map((name) => (
            <Text key={name} size="xs" c="dimmed" ta="center" aria-hidden="true">
              {name}
            </Text>
          ))}
          {days.map((date) => {
            const own = of(date)
            const kind = own.length === 0 ? undefined : own.some(({ closed }) => closed === true) ? 'closed' : 'hours'
            return (
              <button
                key={date}
                type="button"
                className="month-day"
                data-date={date}
                data-kind={kind}
                data-outside={date.slice(0, 7) !== month || undefined}
                aria-pressed={date === chosen}
                aria-label={`${dayName.format(new Date(`${date}T00:00:00Z`))}${kind === undefined ? '' : kind === 'closed' ? ', closed' : ', other hours'}`}
                tabIndex={
                  date === chosen ||
                  (date.endsWith('-01') && date.slice(0, 7) === month && chosen.slice(0, 7) !== month)
                    ? 0
                    : -1
                }
                onClick={() => setChosen(date)}
                onKeyDown={(event) => onKeyDown(event, date)}
              >
                {Number(date.slice(8))}
              </button>
            )
          })}
        </fieldset>
      </div>
      <Stack gap="sm">
        <Text fw={550}>{dayName.format(new Date(`${chosen}T00:00:00Z`))}</Text>
        <DateHours key={chosen} date={chosen} value={of(chosen)} onChange={(overrides) => set(chosen, overrides)} />
        {value.length > 0 && (
          <div>
            <Text size="sm" c="dimmed" mb={6}>
              Dates with hours of their own
            </Text>
            <Group gap={6}>
              {[...new Set(value.map(({ date }) => date))].map((date) => (
                <Badge
                  key={date}
                  component="button"
                  type="button"
                  variant="default"
                  radius="sm"
                  tt="none"
                  fw={500}
                  className="chip"
                  onClick={() => show(date)}
                >
                  {formatShortDay(date)}:{' '}
                  {of(date).some(({ closed }) => closed === true)
                    ? 'closed'
                    : of(date)
                        .map(({ start: from, end }) => `${from}–${end}`)
                        .join(', ')}
                </Badge>
              ))}
            </Group>
          </div>
        )}
      </Stack>
    </div>
  )
}

function DateHours({
  date,
  value,
  onChange,
}: {
  date: string
  value: readonly Override[]
  onChange(value: Override[]): void
}) {
  const kind = value.length === 0 ? 'usual' : value.some(({ closed }) => closed === true) ? 'closed' : 'hours'
  const choose = (next: string) => {
    if (next === 'usual') onChange([])
    else if (next === 'closed') onChange([{ date, closed: true }])
    else onChange([{ date, start: '09:00', end: '12:00' }])
  }
  const change = (index: number, changes: Partial<Override>) =>
    onChange(value.map((override, at) => (at === index ? { ...override, ...changes } : override)))
  return (
    <>
      <SegmentedControl
        aria-label="Hours of this date"
        data={[
          { value: 'usual', label: 'Usual hours' },
          { value: 'closed', label: 'Closed' },
          { value: 'hours', label: 'Other hours' },
        ]}
        value={kind}
        onChange={choose}
      />
      {kind === 'hours' && (
        <Stack gap={6}>
          {value.map(({ start = '09:00', end = '17:00' }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: it has no other identity.
            <Group key={index} gap={6}>
              <ClockField
                label="Start"
                value={parseMinutes(start) ?? 0}
                onChange={(next) => change(index, { start: formatClock(next) })}
              />
              <Text size="sm" c="dimmed">
                to
              </Text>
              <ClockField
                label="End"
                value={parseMinutes(end) ?? 0}
                onChange={(next) => change(index, { end: formatClock(next) })}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                aria-label={`Remove the hours from ${start}`}
                onClick={() => onChange(value.filter((_, at) => at !== index))}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
          ))}
          <Button
            variant="default"
            size="compact-sm"
            w="fit-content"
            leftSection={<IconPlus size={14} />}
            onClick={() => onChange([...value, { date, start: '13:00', end: '17:00' }])}
          >
            Add hours
          </Button>
        </Stack>
      )}
    </>
  )
}

const formatDate = (date: Date) => date.toISOString().slice(0, 10)

function formatShortDay(date: string): string {
  const parsed = new Date(`${date}T00:00:00Z`)
  return Number.isNaN(parsed.getTime()) ? date : shortDay.format(parsed)
}
