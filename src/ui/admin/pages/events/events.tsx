import { Button } from '@mantine/core'
import { EVENT_TYPES } from '../../../generated/api-objects.ts'
import type { FeedEvent } from '../../api/types.ts'
import { AccountName } from '../../parts/account-names.tsx'
import { AccountFilter } from '../../parts/account-picker.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { describeEvent } from '../../parts/event-text.ts'
import { ChoiceFilter, Filters } from '../../parts/filters.tsx'
import { IconBell, IconSearch } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { RowTitle } from '../../parts/row-title.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'

const TYPES = Object.keys(EVENT_TYPES).map((value) => ({ value, label: value }))

const COLUMNS: readonly Column<FeedEvent>[] = [
  {
    header: 'Event',
    render: ({ type, data, test }) => (
      <RowTitle title={type} about={describeEvent(data)} note={test ? 'test' : undefined} />
    ),
  },
  { header: 'Account', render: ({ accountId }) => <AccountName id={accountId} /> },
  { header: 'Time', render: ({ timestamp }) => <Time value={timestamp} />, align: 'right' },
]

/** Every event that was recorded, also those that no endpoint subscribes to. */
export default function Events() {
  const [{ type, accountId }, setUrl] = useUrlState(['type', 'accountId'])
  const isFiltered = type !== '' || accountId !== ''
  const clear = () => setUrl({ type: '', accountId: '' })
  return (
    <Page title="Events" description="Everything that was recorded, also events that no endpoint subscribes to.">
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="Type"
          width={240}
          isSearchable
          value={type}
          options={TYPES}
          onChange={(value) => setUrl({ type: value })}
        />
        <AccountFilter label="Account" value={accountId} onChange={(value) => setUrl({ accountId: value })} />
      </Filters>
      <DataTable
        caption="Events"
        path="/events"
        rows="events"
        hasCursor
        query={{ type, accountId }}
        columns={COLUMNS}
        accountId={(event) => event.accountId}
        rowKey={({ id }) => id}
        href={({ id }) => `/events/${id}`}
        live={['']}
        empty={
          isFiltered ? (
            <Empty
              icon={IconSearch}
              title="No event matches"
              action={
                <Button variant="default" onClick={clear}>
                  Clear filters
                </Button>
              }
            />
          ) : (
            <Empty icon={IconBell} title="No event yet">
              Events are recorded when a mailbox is connected, when a message arrives, and when a guest books.
            </Empty>
          )
        }
      />
    </Page>
  )
}
