import { Button, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type ApiError, api } from '../../api/client.ts'
import type { Booking, SlotList } from '../../api/types.ts'
import { Problem } from '../../parts/problem.tsx'
import { Month } from './month.tsx'
import { dayStart, formatDate } from './week-days.ts'

export type Slot = SlotList['slots'][number]

const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })
const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })

/** How long times that were found are shown without being searched again. */
const FRESH_MS = 30_000

interface SlotPickerProps {
  booking: Booking
  chosen: Slot | undefined
  onChoose(slot: Slot | undefined): void
}

/** A month and the free times of a day, as guests see them, in the viewer's time zone. */
export function SlotPicker({ booking, chosen, onChoose }: SlotPickerProps) {
  const [focused, setFocused] = useState(() =>
    formatDate(new Date(Math.max(Date.now(), Date.parse(booking.slot.start)))),
  )
  const [day, setDay] = useState<string>()
  const month = focused.slice(0, 7)
  const { data, error, isPending, refetch } = useQuery<SlotList, ApiError>({
    queryKey: ['free-times', booking.id, month],
    queryFn: () => findSlots(booking, month),
    staleTime: FRESH_MS,
  })
  const days = groupByDay(data?.slots ?? [])
  const selected = day !== undefined && days.has(day) ? day : [...days.keys()][0]
  return (
    <div className="slot-picker">
      <Month
        focused={focused}
        free={new Set(days.keys())}
        selected={selected}
        isLoading={isPending}
        onMonth={(next) => {
          setFocused(next)
          setDay(undefined)
          onChoose(undefined)
        }}
        onSelect={(next) => {
          setFocused(next)
          setDay(next)
          onChoose(undefined)
        }}
      />
      <div>
        {isPending && <Loader size="sm" aria-label="Finding free times" />}
        {error !== null && (
          <Problem title="The free times could not be found" error={error} onRetry={() => void refetch()} />
        )}
        {data !== undefined && selected === undefined && (
          <Text size="sm" c="dimmed">
            There is no free time in this month. Choose another one.
          </Text>
        )}
        {selected !== undefined && (
          <Stack gap="xs">
            <Text fw={600}>{dayName.format(dayStart(selected))}</Text>
            <fieldset className="slot-times" aria-label="Free times">
              {(days.get(selected) ?? []).map((slot) => (
                <Button
                  key={slot.start}
                  variant={chosen?.start === slot.start ? 'filled' : 'default'}
                  aria-pressed={chosen?.start === slot.start}
                  onClick={() => onChoose(slot)}
                >
                  {clock.format(new Date(slot.start))}
                </Button>
              ))}
            </fieldset>
          </Stack>
        )}
      </div>
    </div>
  )
}

/** The free times of a month, from now on. */
async function findSlots({ experienceSlug, slot, responses }: Booking, month: string): Promise<SlotList> {
  const first = dayStart(`${month}-01`)
  const end = new Date(first.getFullYear(), first.getMonth() + 1, 1)
  const start = new Date(Math.max(first.getTime(), Date.now()))
  return api.post<SlotList>(`/scheduler/experiences/${encodeURIComponent(experienceSlug)}/availability`, {
    range: { start: start.toISOString(), end: end.toISOString() },
    durationMinutes: Math.round((Date.parse(slot.end) - Date.parse(slot.start)) / 60_000),
    bookingFormResponse: responses,
  })
}

function groupByDay(slots: readonly Slot[]): Map<string, Slot[]> {
  const days = new Map<string, Slot[]>()
  for (const slot of slots) {
    const day = formatDate(new Date(slot.start))
    const found = days.get(day)
    if (found === undefined) days.set(day, [slot])
    else found.push(slot)
  }
  return days
}
