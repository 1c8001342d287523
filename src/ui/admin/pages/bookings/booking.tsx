import { Alert, Anchor, Button, Skeleton, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Booking, Experience } from '../../api/types.ts'
import { CodeBlock, pretty } from '../../parts/code-block.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { Fields } from '../../parts/fields.tsx'
import { IconCalendarClock, IconCircleX } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Section } from '../../parts/section.tsx'
import { Status, type Tone } from '../../parts/status.tsx'
import { duration, meetingTime, Time } from '../../parts/time.tsx'
import { JobTable } from './job-table.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { BookingStatus, isOpen } from './status.tsx'

const PARENT = { href: '/bookings', label: 'Bookings' }
const CALENDARS: Readonly<Record<Booking['calendar']['state'], { label: string; tone: Tone }>> = {
  none: { label: 'No calendar', tone: 'quiet' },
  pending: { label: 'Being written', tone: 'busy' },
  written: { label: 'Written', tone: 'good' },
  failing: { label: 'Trying again', tone: 'warn' },
  failed: { label: 'Failed', tone: 'bad' },
}
const CANCELLED_BY = { guest: 'The guest', host: 'A host', api: 'The application or an operator' }

export default function BookingPage({ bookingId }: { bookingId: string }) {
  const path = `/scheduler/bookings/${encodeURIComponent(bookingId)}`
  const { data: booking, error, refetch } = useRead<Booking>(path, {}, { live: ['booking.'] })
  const experience = useRead<Experience>(
    `/scheduler/experiences/${encodeURIComponent(booking?.experienceSlug ?? '')}`,
    {},
    { enabled: booking !== undefined },
  )
  const [dialog, setDialog] = useState<'move' | 'cancel' | null>(null)
  const [reason, setReason] = useState('')
  const cancel = useAction(() => api.post<Booking>(`${path}/cancel`, reason === '' ? {} : { reason }), {
    invalidates: ['/scheduler', '/admin/booking-counts'],
    done: 'The booking was cancelled.',
    onDone: () => setDialog(null),
  })
  if (booking === undefined) {
    return (
      <Page title="Booking" parent={PARENT}>
        {error === null ? (
          <Skeleton height={320} />
        ) : (
          <Problem title="This booking cannot be shown" error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    )
  }
  const { guest, slot, attendees, responses, metadata, calendar } = booking
  const labels = new Map((experience.data?.bookingForm?.fields ?? []).map(({ name, label }) => [name, label]))
  const isConfirmed = booking.status === 'confirmed' || booking.status === 'rescheduled'
  return (
    <Page
      title={guest.name || guest.email}
      parent={PARENT}
      badge={<BookingStatus booking={booking} />}
      actions={
        isOpen(booking) && (
          <>
            {isConfirmed && (
              <Button variant="default" leftSection={<IconCalendarClock size={16} />} onClick={() => setDialog('move')}>
                Move
              </Button>
            )}
            <Button variant="default" leftSection={<IconCircleX size={16} />} onClick={() => setDialog('cancel')}>
              Cancel the booking
            </Button>
          </>
        )
      }
    >
      {booking.reason !== null && !isOpen(booking) && (
        <Alert color={booking.status === 'rejected' ? 'red' : 'gray'} icon={<IconCircleX />} title="Reason">
          {booking.reason}
        </Alert>
      )}
      {calendar.error !== null && (
        <Alert color="orange" title="The calendars could not be written">
          {calendar.error}
        </Alert>
      )}
      <Section title="Meeting">
        <Fields
          items={[
            ['Start', meetingTime(slot.start)],
            ['Length', duration(Date.parse(slot.end) - Date.parse(slot.start))],
            [
              'Experience',
              <Anchor
                key="experience"
                component={Link}
                href={`/scheduler/${booking.experienceSlug}`}
                inherit
                underline="always"
              >
                {experience.data?.name ?? booking.experienceSlug}
              </Anchor>,
            ],
            ['Hosts', hostsText(slot.participants)],
            [
              'Calendars',
              <Status key="calendar" tone={CALENDARS[calendar.state].tone}>
                {CALENDARS[calendar.state].label}
              </Status>,
            ],
            [
              'Conference',
              booking.joinUrl === null ? undefined : (
                <Copyable key="join" value={booking.joinUrl} label="Copy the link of the conference" />
              ),
            ],
            ['Cancelled by', booking.cancelledBy === null ? undefined : CANCELLED_BY[booking.cancelledBy]],
            ['Booked', <Time key="created" value={booking.createdAt} />],
            ['Id', <Copyable key="id" value={booking.id} label="Copy the id" />],
          ]}
        />
      </Section>
      <Section title="Guest">
        <Fields
          items={[
            ['Name', guest.name || '–'],
            ['Address', <Copyable key="email" value={guest.email} label="Copy the address" />],
            ['Time zone', guest.timezone],
            ...Object.entries(responses).map(([name, value]) => [labels.get(name) ?? name, answerText(value)] as const),
          ]}
        />
        {attendees.length > 0 && (
          <>
            <Text fw={550} mt="md" mb="xs">
              Other attendees
            </Text>
            <ul className="plain-list">
              {attendees.map((attendee, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an attendee may have no other identity.
                <li key={index}>{attendeeText(attendee)}</li>
              ))}
            </ul>
          </>
        )}
      </Section>
      <Section title="Jobs" description="What is done for this booking in the background.">
        <JobTable query={{ bookingId: booking.id }} hasBooking={false} />
      </Section>
      {Object.keys(metadata).length > 0 && (
        <Section title="Metadata">
          <CodeBlock value={pretty(metadata)} label="Metadata" />
        </Section>
      )}
      <MoveDialog booking={booking} isOpen={dialog === 'move'} onClose={() => setDialog(null)} />
      <Confirm
        isOpen={dialog === 'cancel'}
        onClose={() => setDialog(null)}
        onConfirm={() => cancel.mutate()}
        isRunning={cancel.isPending}
        title="Cancel this booking?"
        action="Cancel the booking"
      >
        Guest and hosts are informed, the events leave their calendars, and the time is free again. This cannot be
        undone.
        <Textarea
          mt="sm"
          label="Reason"
          description="The guest reads it. Optional."
          maxLength={1000}
          autosize
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      </Confirm>
    </Page>
  )
}

function answerText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  return Array.isArray(value) ? value.map(answerText).join(', ') : JSON.stringify(value)
}

function attendeeText({ displayName, email }: Record<string, unknown>): string {
  const texts = [displayName, email].filter((text) => typeof text === 'string' && text !== '')
  return texts.length === 0 ? 'Without a name' : texts.join(', ')
}

function hostsText(participants: readonly unknown[]) {
  const ids = participants.filter((participant) => typeof participant === 'string')
  if (participants.length === 0) return 'None'
  if (ids.length < participants.length) return JSON.stringify(participants)
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <Host id={id} />
        </span>
      ))}
    </>
  )
}

/** An availability endpoint may return other texts than ids of accounts. */
function Host({ id }: { id: string }) {
  const { data } = useRead<{ email: string }>(
    `/accounts/${encodeURIComponent(id)}`,
    {},
    { pollMs: false, enabled: id.startsWith('acc_') },
  )
  if (data === undefined) return id
  return (
    <Anchor component={Link} href={`/accounts/${id}`} inherit underline="always">
      {data.email}
    </Anchor>
  )
}
