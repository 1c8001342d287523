import { Button, Text } from '@mantine/core'
import { EVENT_TYPES } from '../../../generated/api-objects.ts'
import { useRead } from '../../api/queries.ts'
import type { Delivery, Endpoint, List } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx'
import { IconHistory, IconSearch, IconSend } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { RecoverDialog } from './recover-dialog.tsx'
import { DeliveryStatus, STATUSES } from './status.tsx'

const FILTERS = ['status', 'endpointId', 'eventType', 'accountId', 'eventId'] as const

const COLUMNS: readonly Column<Delivery>[] = [
  {
    header: 'Event',
    render: ({ eventType, test }) => (
      <>
        <Text span inherit fw={550}>
          {eventType}
        </Text>
        {test && (
          <Text span size="xs" c="dimmed">
            {' '}
            test
          </Text>
        )}
      </>
    ),
  },
  { header: 'Status', render: ({ status }) => <DeliveryStatus status={status} /> },
  { header: 'Response', render: ({ responseStatus, error }) => responseStatus ?? error?.kind ?? '–' },
  { header: 'URL', render: ({ url }) => <span className="clamp">{url}</span>, isExtra: true },
  {
    header: 'Attempts',
    render: ({ attempt, maxAttempts }) => `${attempt} of ${Math.max(attempt, maxAttempts)}`,
    isExtra: true,
    align: 'right',
  },
  { header: 'Created', render: ({ createdAt }) => <Time value={createdAt} />, align: 'right' },
]

export default function Deliveries() {
  const [{ recover, ...filter }, setUrl] = useUrlState([...FILTERS, 'recover'])
  const { status, endpointId, eventType, accountId, eventId } = filter
  const endpoints = useRead<List<'endpoints', Endpoint>>('/webhooks/endpoints', { limit: 200 })
  const isFiltered = FILTERS.some((name) => filter[name] !== '')
  const clear = () => setUrl({ status: '', endpointId: '', eventType: '', accountId: '', eventId: '' })
  return (
    <Page
      title="Deliveries"
      description="Every event sent to every endpoint, with what was sent and what came back."
      actions={
        <Button variant="default" leftSection={<IconHistory size={16} />} onClick={() => setUrl({ recover: '1' })}>
          Recover missed events
        </Button>
      }
    >
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="Status"
          width={150}
          value={status}
          options={Object.entries(STATUSES).map(([value, { label }]) => ({ value, label }))}
          onChange={(value) => setUrl({ status: value })}
        />
        <ChoiceFilter
          label="Endpoint"
          width={240}
          value={endpointId}
          options={(endpoints.data?.endpoints ?? []).map(({ id, url }) => ({ value: id, label: url }))}
          onChange={(value) => setUrl({ endpointId: value })}
        />
        <ChoiceFilter
          label="Event"
          width={210}
          value={eventType}
          options={Object.keys(EVENT_TYPES).map((value) => ({ value, label: value }))}
          onChange={(value) => setUrl({ eventType: value })}
        />
        <TextFilter
          label="Account id"
          width={210}
          value={accountId}
          onChange={(value) => setUrl({ accountId: value })}
        />
      </Filters>
      <DataTable
        caption="Deliveries"
        path="/webhooks/deliveries"
        rows="deliveries"
        query={{ status, endpointId, eventType, accountId, eventId }}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/deliveries/${id}`}
        live={['message.', 'mailbox.', 'account.', 'calendar.', 'booking.', 'draft.', 'webhook.']}
        empty={
          isFiltered ? (
            <Empty
              icon={IconSearch}
              title="No delivery matches"
              action={
                <Button variant="default" onClick={clear}>
                  Clear filters
                </Button>
              }
            />
          ) : (
            <Empty icon={IconSend} title="Nothing was delivered yet">
              Deliveries appear as soon as an event happens to which an active endpoint subscribes.
            </Empty>
          )
        }
      />
      <RecoverDialog
        isOpen={recover !== ''}
        onClose={() => setUrl({ recover: '' })}
        endpoints={endpoints.data?.endpoints ?? []}
        endpointId={endpointId}
      />
    </Page>
  )
}
