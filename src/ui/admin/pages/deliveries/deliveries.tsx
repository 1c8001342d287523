import { Button } from '@mantine/core'
import { EVENT_TYPES } from '../../../generated/api-objects.ts'
import { useRead } from '../../api/queries.ts'
import type { Delivery, Endpoint, List } from '../../api/types.ts'
import { AccountName } from '../../parts/account-names.tsx'
import { AccountFilter } from '../../parts/account-picker.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { attemptsText, DELIVERY_STATUSES, DeliveryStatus, latencyText } from '../../parts/delivery.tsx'
import { Empty } from '../../parts/empty.tsx'
import { describeEvent } from '../../parts/event-text.ts'
import { ChoiceFilter, Filters } from '../../parts/filters.tsx'
import { IconHistory, IconSearch, IconSend } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { RowTitle } from '../../parts/row-title.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { RecoverDialog } from './recover-dialog.tsx'

const FILTERS = ['status', 'endpointId', 'eventType', 'accountId', 'eventId'] as const

const COLUMNS: readonly Column<Delivery>[] = [
  {
    header: 'Event',
    render: ({ eventType, payload, test }) => (
      <RowTitle title={eventType} about={describeEvent(payload?.data)} note={test ? 'test' : undefined} />
    ),
  },
  { header: 'Account', render: ({ accountId }) => <AccountName id={accountId} />, isExtra: true },
  { header: 'Status', render: ({ status }) => <DeliveryStatus status={status} /> },
  { header: 'Attempts', render: (delivery) => <span className="time">{attemptsText(delivery)}</span> },
  {
    header: 'Latency',
    render: (delivery) => <span className="time">{latencyText(delivery)}</span>,
    align: 'right',
    isExtra: true,
  },
  { header: 'Endpoint', render: ({ url }) => <span className="clamp-1">{shortUrl(url)}</span>, isExtra: true },
  { header: 'Created', render: ({ createdAt }) => <Time value={createdAt} />, align: 'right' },
]

/** Without what most endpoints have in common. */
const shortUrl = (url: string) => url.replace(/^https?:\/\//, '')

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
          options={Object.entries(DELIVERY_STATUSES).map(([value, { label }]) => ({ value, label }))}
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
          isSearchable
          value={eventType}
          options={Object.keys(EVENT_TYPES).map((value) => ({ value, label: value }))}
          onChange={(value) => setUrl({ eventType: value })}
        />
        <AccountFilter label="Account" value={accountId} onChange={(value) => setUrl({ accountId: value })} />
      </Filters>
      <DataTable
        caption="Deliveries"
        path="/webhooks/deliveries"
        rows="deliveries"
        query={{ status, endpointId, eventType, accountId, eventId }}
        columns={COLUMNS}
        accountId={(delivery) => delivery.accountId}
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
