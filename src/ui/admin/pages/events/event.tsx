import { Alert, Button, Skeleton } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { useRead } from '../../api/queries.ts'
import type { Delivery, FeedEvent, List } from '../../api/types.ts'
import { useAccountNames } from '../../parts/account-names.tsx'
import { CodeBlock, pretty } from '../../parts/code-block.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { attemptsText, DeliveryStatus, latencyText } from '../../parts/delivery.tsx'
import { Empty } from '../../parts/empty.tsx'
import { describeEvent } from '../../parts/event-text.ts'
import { Fields } from '../../parts/fields.tsx'
import { IconInfo, IconRotateCcw, IconSend } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Section } from '../../parts/section.tsx'
import { Time } from '../../parts/time.tsx'
import { ResendDialog } from './resend-dialog.tsx'

const PARENT = { href: '/events', label: 'Events' }

const COLUMNS: readonly Column<Delivery>[] = [
  { header: 'Endpoint', render: ({ url }) => <span className="clamp-1">{url}</span> },
  { header: 'Status', render: ({ status }) => <DeliveryStatus status={status} /> },
  { header: 'Attempts', render: (delivery) => <span className="time">{attemptsText(delivery)}</span>, isExtra: true },
  {
    header: 'Latency',
    render: (delivery) => <span className="time">{latencyText(delivery)}</span>,
    isExtra: true,
    align: 'right',
  },
  { header: 'Created', render: ({ createdAt }) => <Time value={createdAt} />, align: 'right' },
]

export default function EventPage({ eventId }: { eventId: string }) {
  const {
    data: event,
    error,
    refetch,
  } = useRead<FeedEvent>(`/events/${encodeURIComponent(eventId)}`, {}, { pollMs: false })
  const deliveries = useRead<List<'deliveries', Delivery>>(
    '/webhooks/deliveries',
    { eventId, limit: 1 },
    { live: ['webhook.'], pollMs: 5000 },
  )
  const [isResending, setResending] = useState(false)
  if (event === undefined) {
    return (
      <Page title="Event" parent={PARENT}>
        {error === null ? (
          <Skeleton height={320} />
        ) : (
          <Problem title="This event cannot be shown" error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    )
  }
  const hasNone = deliveries.data?.deliveries.length === 0
  return (
    <Page
      title={event.type}
      parent={PARENT}
      description={<span className="wrap">{describeEvent(event.data)}</span>}
      actions={
        <Button leftSection={<IconRotateCcw size={16} />} onClick={() => setResending(true)}>
          Send to an endpoint
        </Button>
      }
    >
      {hasNone ? (
        <Alert color="indigo" icon={<IconInfo />} title="No endpoint received this event">
          {event.test
            ? 'It is a test event, which goes only to the endpoint that was tested.'
            : 'When it was recorded, no active endpoint subscribed to events of its type.'}
        </Alert>
      ) : (
        <Section title="Deliveries">
          <DataTable
            caption="Deliveries of this event"
            path="/webhooks/deliveries"
            rows="deliveries"
            query={{ eventId }}
            columns={COLUMNS}
            rowKey={({ id }) => id}
            href={({ id }) => `/deliveries/${id}`}
            live={['webhook.']}
            pollMs={5000}
            empty={<Empty icon={IconSend} title="It was delivered to no endpoint" />}
          />
        </Section>
      )}
      <Section title="Content">
        <CodeBlock label="Event" value={pretty(event)} />
      </Section>
      <Section title="Details">
        <Fields
          items={[
            ['Event', <Copyable key="id" value={event.id} label="Copy the event id" />],
            ['Account', event.accountId === null ? null : <AccountLink key="account" id={event.accountId} />],
            ['Object', event.objectId],
            ['Number within the account', event.sequence],
            ['Position in the feed', event.position],
            ['Recorded', <Time key="time" value={event.timestamp} />],
          ]}
        />
      </Section>
      <ResendDialog event={event} isOpen={isResending} onClose={() => setResending(false)} />
    </Page>
  )
}

function AccountLink({ id }: { id: string }) {
  const names = useAccountNames([id])
  return (
    <Link href={`/accounts/${id}`} className="inline-link">
      {names[id] ?? id}
    </Link>
  )
}
