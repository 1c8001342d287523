import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { Booking } from '../../api/types.ts'
import { Problem } from '../../parts/problem.tsx'
import { meetingTime } from '../../parts/time.tsx'
import { type Slot, SlotPicker } from './slot-picker.tsx'

/** Moves a booking to another free time: the same that guests see. */
export function MoveDialog({ booking, isOpen, onClose }: { booking: Booking; isOpen: boolean; onClose(): void }) {
  const [chosen, setChosen] = useState<Slot>()
  const move = useAction(() => api.post<Booking>(`/scheduler/bookings/${booking.id}/reschedule`, { slot: chosen }), {
    invalidates: ['/scheduler', '/admin/booking-counts'],
    done: 'The booking was moved.',
    toastError: false,
    onDone: onClose,
  })
  const reset = () => {
    setChosen(undefined)
    move.reset()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} onExitTransitionEnd={reset} title="Move the booking" size="lg">
      <Stack>
        <Text size="sm">
          {chosen === undefined
            ? `Now: ${meetingTime(booking.slot.start)}`
            : `From ${meetingTime(booking.slot.start)} to ${meetingTime(chosen.start)}`}
        </Text>
        <SlotPicker booking={booking} chosen={chosen} onChoose={setChosen} />
        {move.error !== null && <Problem title="The booking could not be moved" error={move.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <Button disabled={chosen === undefined} loading={move.isPending} onClick={() => move.mutate()}>
            Move and inform the guest
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
