import { Button, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { useRead } from '../../api/queries.ts'
import type { BookingCounts, Experience } from '../../api/types.ts'
import { Copyable } from '../../parts/copy.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { IconCalendar, IconPlus } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { Status } from '../../parts/status.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { CreateDialog } from './create-dialog.tsx'

export default function Scheduler() {
  const [{ create }, setUrl] = useUrlState(['create'])
  const [created, setCreated] = useState<Experience | null>(null)
  const [, navigate] = useLocation()
  const { data } = useRead<BookingCounts>('/admin/booking-counts', {}, { live: ['booking.'] })
  const columns = useMemo(() => columnsWith(data), [data])
  const button = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setUrl({ create: '1' })}>
      Create an experience
    </Button>
  )
  return (
    <Page
      title="Scheduler"
      description="Experiences are booking flows: guests see free times, take one and fill in a form, and the hosts get the meeting in their calendars."
      actions={button}
    >
      <DataTable
        caption="Experiences"
        path="/scheduler/experiences"
        rows="experiences"
        columns={columns}
        rowKey={({ id }) => id}
        href={({ slug }) => `/scheduler/${slug}`}
        empty={
          <Empty icon={IconCalendar} title="No experience yet" action={button}>
            Create one with a name and its hosts. It has a booking page at once.
          </Empty>
        }
      />
      <CreateDialog isOpen={create !== ''} onClose={() => setUrl({ create: '' })} onCreated={setCreated} />
      <SecretDialog
        secret={created?.callbackSecret}
        title="The callback secret"
        label="Callback secret"
        onClose={() => {
          if (created !== null) navigate(`/scheduler/${created.slug}`)
          setCreated(null)
        }}
      >
        It signs requests to the endpoints of your application. You need it only if you add such endpoints.
      </SecretDialog>
    </Page>
  )
}

function columnsWith(counts: BookingCounts | undefined): readonly Column<Experience>[] {
  return [
    {
      header: 'Name',
      render: ({ name }) => (
        <Text span inherit fw={550}>
          {name}
        </Text>
      ),
    },
    {
      header: 'State',
      render: ({ isActive, mailLimit }) =>
        isActive && mailLimit !== undefined ? (
          <Status tone="warn">Refuses messages</Status>
        ) : (
          <Status tone={isActive ? 'good' : 'quiet'}>{isActive ? 'Active' : 'Inactive'}</Status>
        ),
    },
    { header: 'Next 7 days', render: ({ slug }) => bookingsText(counts, slug) },
    { header: 'Hosts', render: ({ defaultAccountIds }) => defaultAccountIds.length, isExtra: true },
    {
      header: 'Booking page',
      render: ({ bookingUrl }) => <Copyable value={bookingUrl} label="Copy the link to the booking page" />,
      isExtra: true,
    },
  ]
}

function bookingsText(counts: BookingCounts | undefined, slug: string): string {
  if (counts === undefined) return '…'
  const count = counts.counts[slug] ?? 0
  if (count === 0) return 'No bookings'
  return `${count.toLocaleString()}${counts.isCapped ? '+' : ''} ${count === 1 ? 'booking' : 'bookings'}`
}
