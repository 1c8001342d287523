import type { Booking, SchedulerJob } from '../../api/types.ts'
import { Status, type Tone } from '../../parts/status.tsx'

export const BOOKING_STATUSES: Readonly<Record<Booking['status'], { label: string; tone: Tone }>> = {
  pending: { label: 'Pending', tone: 'busy' },
  confirmed: { label: 'Confirmed', tone: 'good' },
  rescheduled: { label: 'Moved', tone: 'good' },
  rejected: { label: 'Rejected', tone: 'bad' },
  cancelled: { label: 'Cancelled', tone: 'quiet' },
}

export function BookingStatus({ booking }: { booking: Pick<Booking, 'status'> }) {
  const { label, tone } = BOOKING_STATUSES[booking.status]
  return <Status tone={tone}>{label}</Status>
}

export const JOB_STATUSES: Readonly<Record<SchedulerJob['status'], { label: string; tone: Tone }>> = {
  waiting: { label: 'Waiting', tone: 'busy' },
  active: { label: 'Running', tone: 'busy' },
  completed: { label: 'Done', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  cancelled: { label: 'Cancelled', tone: 'quiet' },
}

export const JOB_TYPES: Readonly<Record<SchedulerJob['type'], string>> = {
  callback: 'Ask the booking endpoint again',
  calendar: 'Write the calendars of the hosts',
  message: 'Send a message',
  reminder: 'Remind',
  decision: 'Reject unless decided',
}

/** Whether the meeting takes place, or may. */
export const isOpen = ({ status }: Pick<Booking, 'status'>) => status !== 'cancelled' && status !== 'rejected'
