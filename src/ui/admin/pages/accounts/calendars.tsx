import { Anchor, Button, ColorSwatch, Group, Text } from '@mantine/core'
import { useState } from 'react'
import type { Account, Calendar, CalendarEvent } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { IconCalendar, IconChevronLeft } from '../../parts/icons.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { explainNoConsent, Failing, ReadingState, Unreadable } from './collections.tsx'

const ROLES: Record<Calendar['accessRole'], string> = {
  owner: 'Owner',
  writer: 'Can change',
  reader: 'Can read',
  freeBusyReader: 'Free and busy times only',
}

const DAY_MS = 86_400_000

export function Calendars({ account }: { account: Account }) {
  const [open, setOpen] = useState<Calendar | null>(null)
  const [, setUrl] = useUrlState(['page'])
  const show = (calendar: Calendar | null) => {
    setOpen(calendar)
    setUrl({ page: null })
  }
  const path = `/accounts/${account.id}/calendars`
  if (open !== null) return <Events path={path} calendar={open} onBack={() => show(null)} />
  const columns: readonly Column<Calendar>[] = [
    {
      header: 'Calendar',
      render: ({ summary, backgroundColor, primary, unreadable, failure }) => (
        <Group gap={8} wrap="nowrap">
          <ColorSwatch color={backgroundColor ?? 'var(--portal-quiet)'} size={12} withShadow={false} />
          <Group gap="4px 8px">
            <span className="wrap">{summary || '(no name)'}</span>
            {primary && (
              <Text span size="xs" c="dimmed" miw="max-content">
                Main
              </Text>
            )}
            <ReadingState failure={failure} unreadable={unreadable.count > 0 && eventsText(unreadable.count)} />
          </Group>
        </Group>
      ),
    },
    { header: 'Access', render: ({ accessRole }) => ROLES[accessRole] },
    { header: 'Time zone', render: ({ timeZone }) => timeZone, isExtra: true },
    { header: 'Changed', render: ({ updatedAt }) => <Time value={updatedAt} />, isExtra: true },
  ]
  return (
    <DataTable
      caption="Calendars"
      path={path}
      rows="calendars"
      columns={columns}
      rowKey={({ id }) => id}
      onOpen={show}
      live={['calendar.']}
      explain={(error) => explainNoConsent(error, 'No permission to read calendars', IconCalendar)}
      empty={
        <Empty icon={IconCalendar} title="No calendars">
          {account.provider === 'imap'
            ? 'No CalDAV server is known for this mailbox. Its owner can enter one when signing in again.'
            : 'The account gives no access to calendars. Its owner can allow it when signing in again.'}
        </Empty>
      }
    />
  )
}

const dayFormat = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
})

function eventsText(count: number): string {
  return count === 1 ? '1 event' : `${count} events`
}

/** Lists events of a calendar that sync could not read. */
function UnreadableEvents({ count, events }: Calendar['unreadable']) {
  return (
    <Unreadable
      title={`${eventsText(count)} cannot be read as ${count === 1 ? 'it is' : 'they are'}`}
      count={count}
      items={events.map(({ providerEventId, reason }) => ({ id: providerEventId, reason }))}
    >
      {count === 1
        ? 'It is busy where its hours are known. Its owner can mend it in the calendar.'
        : 'They are busy where their hours are known. Their owner can mend them in the calendar.'}
    </Unreadable>
  )
}

function Events({ path, calendar, onBack }: { path: string; calendar: Calendar; onBack(): void }) {
  const [from] = useState(() => new Date().toISOString())
  const columns: readonly Column<CalendarEvent>[] = [
    { header: 'Event', render: ({ summary }) => <span className="wrap">{summary || '(no title)'}</span> },
    {
      header: 'Starts',
      render: ({ start }) =>
        start.date === undefined ? <Time value={start.dateTime ?? null} /> : dayFormat.format(new Date(start.date)),
    },
    { header: 'Where', render: ({ location }) => <span className="clamp">{location ?? '–'}</span>, isExtra: true },
    { header: 'People', render: ({ attendees }) => attendees.length || '–', isExtra: true, align: 'right' },
  ]
  return (
    <>
      <Group mb="md">
        <Button variant="subtle" leftSection={<IconChevronLeft size={16} />} onClick={onBack}>
          All calendars
        </Button>
        <Text fw={600}>{calendar.summary}: the next 60 days</Text>
      </Group>
      {calendar.failure !== null && (
        <Failing failure={calendar.failure} title="This calendar cannot be read at the moment">
          Stored events are kept. Busy times of this calendar count as unknown, so nothing is booked over them.
        </Failing>
      )}
      {calendar.unreadable.count > 0 && <UnreadableEvents {...calendar.unreadable} />}
      <DataTable
        caption="Events"
        path={`${path}/${encodeURIComponent(calendar.id)}/events`}
        rows="events"
        query={{
          timeMin: from,
          timeMax: new Date(Date.parse(from) + 60 * DAY_MS).toISOString(),
          singleEvents: true,
          orderBy: 'startTime',
        }}
        columns={columns}
        rowKey={({ id }) => id}
        live={['calendar.', 'event.']}
        empty={
          <Empty icon={IconCalendar} title="Nothing in the next 60 days">
            <Anchor component="button" type="button" inherit onClick={onBack}>
              See another calendar
            </Anchor>
          </Empty>
        }
      />
    </>
  )
}
