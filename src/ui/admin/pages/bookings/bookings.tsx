import { Button, SegmentedControl } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import type { Booking, Experience, List } from '../../api/types.ts'
import { AccountFilter } from '../../parts/account-picker.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx'
import { IconCalendar, IconSearch } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { BOOKING_STATUSES, BookingStatus } from './status.tsx'
import { Week } from './week.tsx'

/** An experience beyond these is found by its link from the scheduler. */
const EXPERIENCES = 100

const COLUMNS: readonly Column<Booking>[] = [
  { header: 'Guest', render: ({ guest }) => <span className="wrap">{guest.name || guest.email}</span> },
  { header: 'Start', render: ({ slot }) => <Time value={slot.start} /> },
  { header: 'Status', render: (booking) => <BookingStatus booking={booking} /> },
  { header: 'Experience', render: ({ experienceSlug }) => experienceSlug, isExtra: true },
  { header: 'Booked', render: ({ createdAt }) => <Time value={createdAt} />, isExtra: true },
]

export default function Bookings() {
  const [{ view, status, accountId, experienceSlug, guestEmail, week }, setUrl] = useUrlState([
    'view',
    'status',
    'accountId',
    'experienceSlug',
    'guestEmail',
    'week',
  ])
  const { data } = useRead<List<'experiences', Experience>>('/scheduler/experiences', { limit: EXPERIENCES })
  const isFiltered = [status, accountId, experienceSlug, guestEmail].some((value) => value !== '')
  const clear = () => setUrl({ status: '', accountId: '', experienceSlug: '', guestEmail: '' })
  const query = { status, accountId, experienceSlug, guestEmail }
  const experiences = (data?.experiences ?? []).map(({ slug, name }) => ({ value: slug, label: name }))
  const chosen = { value: experienceSlug, label: experienceSlug }
  return (
    <Page
      title="Bookings"
      description="What guests have booked, of all experiences."
      actions={
        <SegmentedControl
          aria-label="View"
          data={[
            { value: 'week', label: 'Week' },
            { value: 'list', label: 'List' },
          ]}
          value={view === 'list' ? 'list' : 'week'}
          onChange={(next) => setUrl({ view: next === 'list' ? 'list' : '' })}
        />
      }
    >
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="Experience"
          width={190}
          value={experienceSlug}
          options={
            experienceSlug === '' || experiences.some(({ value }) => value === experienceSlug)
              ? experiences
              : [...experiences, chosen]
          }
          onChange={(value) => setUrl({ experienceSlug: value })}
        />
        <AccountFilter label="Host" value={accountId} onChange={(value) => setUrl({ accountId: value })} />
        <ChoiceFilter
          label="Status"
          width={150}
          value={status}
          options={Object.entries(BOOKING_STATUSES).map(([value, { label }]) => ({ value, label }))}
          onChange={(value) => setUrl({ status: value })}
        />
        <TextFilter
          label="Address of the guest"
          width={210}
          value={guestEmail}
          onChange={(value) => setUrl({ guestEmail: value })}
        />
      </Filters>
      {view === 'list' ? (
        <DataTable
          caption="Bookings"
          path="/scheduler/bookings"
          rows="bookings"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          href={({ id }) => `/bookings/${id}`}
          live={['booking.']}
          empty={
            isFiltered ? (
              <Empty
                icon={IconSearch}
                title="No booking matches"
                action={
                  <Button variant="default" onClick={clear}>
                    Clear filters
                  </Button>
                }
              />
            ) : (
              <Empty icon={IconCalendar} title="Nothing is booked yet">
                Send the link of a booking page to your guests, or put it on your site. Bookings appear here at once.
              </Empty>
            )
          }
        />
      ) : (
        <Week query={query} first={week} onWeek={(next) => setUrl({ week: next }, { replace: false })} />
      )}
    </Page>
  )
}
