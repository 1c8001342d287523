import { Button, Group, Text } from '@mantine/core'
import { Link } from 'wouter'
import { api, type Query } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { SchedulerJob } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { IconListChecks } from '../../parts/icons.tsx'
import { Status } from '../../parts/status.tsx'
import { duration, Time } from '../../parts/time.tsx'
import { JOB_STATUSES, JOB_TYPES } from './status.tsx'

const JOB: Column<SchedulerJob> = {
  header: 'Job',
  render: ({ type, subject, lastError, status }) => (
    <>
      {JOB_TYPES[type]}
      <Text size="xs" c="dimmed" className="wrap">
        {describeSubject(type, subject)}
      </Text>
      {lastError !== null && status !== 'completed' && (
        <Text size="xs" className="wrap error-text">
          {lastError}
        </Text>
      )}
    </>
  ),
}
/** A reminder is named by its minutes before the start. */
function describeSubject(type: SchedulerJob['type'], subject: string): string {
  const minutes = Number(subject.slice(subject.lastIndexOf(':') + 1))
  return type === 'reminder' && Number.isInteger(minutes) ? `${duration(minutes * 60_000)} before the start` : subject
}

const STATUS: Column<SchedulerJob> = {
  header: 'Status',
  render: ({ status, attempts }) => (
    <Group gap={6}>
      <Status tone={JOB_STATUSES[status].tone}>{JOB_STATUSES[status].label}</Status>
      {attempts > 1 && (
        <Text size="xs" c="dimmed">
          {attempts} attempts
        </Text>
      )}
    </Group>
  ),
}
const DUE: Column<SchedulerJob> = { header: 'Next run', render: ({ dueAt }) => <Time value={dueAt} />, isExtra: true }
const ACTIONS: Column<SchedulerJob> = { header: 'Actions', render: (job) => <Actions job={job} />, align: 'right' }
const BOOKING: Column<SchedulerJob> = {
  header: 'Booking',
  render: ({ bookingId }) => (
    <Link href={`/bookings/${bookingId}`} className="inline-link">
      Show
    </Link>
  ),
}

/** The background jobs of bookings. */
export function JobTable({ query, hasBooking = true }: { query: Query; hasBooking?: boolean }) {
  return (
    <DataTable
      caption="Jobs"
      path="/scheduler-queue/jobs"
      rows="jobs"
      query={query}
      columns={hasBooking ? [JOB, BOOKING, STATUS, DUE, ACTIONS] : [JOB, STATUS, DUE, ACTIONS]}
      rowKey={({ id }) => id}
      live={['booking.']}
      empty={
        <Empty icon={IconListChecks} title="No jobs here">
          Bookings create jobs for calendars, messages and reminders.
        </Empty>
      }
    />
  )
}

function Actions({ job }: { job: SchedulerJob }) {
  const path = `/scheduler-queue/jobs/${encodeURIComponent(job.id)}`
  const invalidates = ['/scheduler-queue', '/scheduler/bookings']
  const retry = useAction(() => api.post(`${path}/retry`), { invalidates, done: 'The job runs now.' })
  const cancel = useAction(() => api.post(`${path}/cancel`), { invalidates, done: 'The job was cancelled.' })
  const isOver = job.status === 'completed'
  if (isOver || job.status === 'active') return '–'
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <Button size="compact-sm" variant="default" loading={retry.isPending} onClick={() => retry.mutate()}>
        {job.status === 'waiting' ? 'Run now' : 'Retry'}
      </Button>
      {job.status === 'waiting' && (
        <Button size="compact-sm" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      )}
    </Group>
  )
}
