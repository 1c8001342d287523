import { Alert, Button, Group, Loader, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { Booking, SlotList } from '../../api/types.ts'
import { Problem } from '../../parts/problem.tsx'
import { exactTime } from '../../parts/time.tsx'
import { dayStart, formatDate, plusDays } from './week-days.ts'

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

/** Moves a booking to another free time: the same that guests see. */
export function MoveDialog({ booking, isOpen, onClose }: { booking: Booking; isOpen: boolean; onClose(): void }) {
  const { slot, experienceSlug } = booking
  const [date, setDate] = useState(() => formatDate(new Date(slot.start)))
  const [chosen, setChosen] = useState<SlotList['slots'][number] | null>(null)
  const find = useAction(
    (day: string) => {
      const start = dayStart(day)
      return api.post<SlotList>(`/scheduler/experiences/${encodeURIComponent(experienceSlug)}/availability`, {
        range: { start: start.toISOString(), end: plusDays(start, 1).toISOString() },
        durationMinutes: Math.round((Date.parse(slot.end) - Date.parse(slot.start)) / 60_000),
        bookingFormResponse: booking.responses,
      })
    },
    { invalidates: [], toastError: false },
  )
  const move = useAction(() => api.post<Booking>(`/scheduler/bookings/${booking.id}/reschedule`, { slot: chosen }), {
    invalidates: ['/scheduler', '/admin/booking-counts'],
    done: 'The booking was moved.',
    toastError: false,
    onDone: onClose,
  })
  const { mutate } = find
  useEffect(() => {
    setChosen(null)
    if (isOpen && date !== '') mutate(date)
  }, [isOpen, date, mutate])
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      onExitTransitionEnd={() => move.reset()}
      title="Move the booking"
      size="lg"
    >
      <Stack>
        <Text size="sm">Now: {exactTime(slot.start)}</Text>
        <TextInput type="date" label="Date" value={date} onChange={(event) => setDate(event.currentTarget.value)} />
        {find.isPending && <Loader size="sm" aria-label="Finding free times" />}
        {find.error !== null && <Problem title="The free times could not be found" error={find.error} />}
        {find.data?.slots.length === 0 && !find.isPending && (
          <Alert color="gray">There is no free time on this day. Choose another date.</Alert>
        )}
        {!find.isPending && find.data !== undefined && find.data.slots.length > 0 && (
          <Group gap="xs" role="group" aria-label="Free times">
            {find.data.slots.map((slot) => (
              <Button
                key={slot.start}
                variant={chosen?.start === slot.start ? 'filled' : 'default'}
                aria-pressed={chosen?.start === slot.start}
                onClick={() => setChosen(slot)}
              >
                {clock.format(new Date(slot.start))}
              </Button>
            ))}
          </Group>
        )}
        {move.error !== null && <Problem title="The booking could not be moved" error={move.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <Button disabled={chosen === null} loading={move.isPending} onClick={() => move.mutate()}>
            Move and inform the guest
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
