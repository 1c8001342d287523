import { Alert, Group, Paper, Text } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import type { SchedulerQueueStatus } from '../../api/types.ts'
import { ChoiceFilter, Filters } from '../../parts/filters.tsx'
import { Page } from '../../parts/page.tsx'
import { duration } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { JobTable } from './job-table.tsx'
import { JOB_STATUSES, JOB_TYPES } from './status.tsx'

/** Above this, jobs wait for longer than a slow calendar explains. */
const LATE_MS = 5 * 60_000

export default function Jobs() {
  const [{ status, type }, setUrl] = useUrlState(['status', 'type'])
  const { data } = useRead<SchedulerQueueStatus>('/scheduler-queue/status', {}, { live: ['booking.'] })
  return (
    <Page
      title="Booking jobs"
      description="What the service does for bookings in the background: it writes calendars, sends messages and reminds. Failed attempts are repeated for hours."
    >
      {data !== undefined && data.lateMs > LATE_MS && (
        <Alert color="orange" title={`The oldest job has waited for ${duration(data.lateMs)}`}>
          Look for failing jobs below. If none fails, the service has too much to do: see Overview.
        </Alert>
      )}
      <Group gap="sm">
        {Object.entries(JOB_STATUSES).map(([name, { label }]) => (
          <Paper key={name} withBorder px="md" py="xs" className="count">
            <Text size="xs" c="dimmed">
              {label}
            </Text>
            <Text fw={650}>
              {data === undefined ? '…' : data.counts[name as keyof typeof JOB_STATUSES].toLocaleString()}
            </Text>
          </Paper>
        ))}
      </Group>
      <Filters isFiltered={status !== '' || type !== ''} onClear={() => setUrl({ status: '', type: '' })}>
        <ChoiceFilter
          label="Status"
          value={status}
          options={Object.entries(JOB_STATUSES).map(([value, { label }]) => ({ value, label }))}
          onChange={(value) => setUrl({ status: value })}
        />
        <ChoiceFilter
          label="Kind"
          width={260}
          value={type}
          options={Object.entries(JOB_TYPES).map(([value, label]) => ({ value, label }))}
          onChange={(value) => setUrl({ type: value })}
        />
      </Filters>
      <JobTable query={{ status, type }} />
    </Page>
  )
}
