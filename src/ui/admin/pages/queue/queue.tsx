import { Button, Group, Paper, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { DebouncedQueueStatus, QueuedAccount } from '../../api/types.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Filters, TextFilter } from '../../parts/filters.tsx'
import { IconListChecks, IconRefreshCw, IconSearch } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { duration, Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'

/** Syncs begin and end within seconds, and emit no events. */
const POLL_MS = 5000

const COUNTS: readonly [name: keyof Omit<DebouncedQueueStatus, 'provider' | 'paused'>, label: string][] = [
  ['accounts', 'Accounts'],
  ['active', 'Syncing'],
  ['waiting', 'Waiting'],
  ['delayed', 'Scheduled'],
  ['completed', 'Done'],
  ['failed', 'Failed'],
]
const STATES = { idle: 'Idle', waiting: 'Waiting', active: 'Syncing' } as const

const COLUMNS: readonly Column<QueuedAccount>[] = [
  {
    header: 'Account',
    render: ({ email }) => (
      <Text span inherit fw={550}>
        {email}
      </Text>
    ),
  },
  { header: 'State', render: (account) => <State account={account} /> },
  { header: 'Lag', render: ({ lagMs }) => (lagMs === null ? '–' : duration(lagMs)) },
  { header: 'Last run', render: ({ lastRunAt }) => <Time value={lastRunAt} />, isExtra: true },
  { header: 'Next run', render: ({ nextRunAt }) => <Time value={nextRunAt} />, isExtra: true },
  { header: 'Actions', render: (account) => <SyncNow account={account} />, align: 'right' },
]

export default function Queue() {
  const [{ q }, setUrl] = useUrlState(['q'])
  const [isClearing, setClearing] = useState(false)
  const { data, error, refetch } = useRead<DebouncedQueueStatus>('/debounced-queue/status', {}, { pollMs: POLL_MS })
  const clear = useAction(() => api.post<{ cleared: number }>('/debounced-queue/clear'), {
    invalidates: ['/debounced-queue', '/admin/queued-accounts', '/accounts'],
    done: ({ cleared }) => `${cleared.toLocaleString()} ${cleared === 1 ? 'account syncs' : 'accounts sync'} now.`,
    onDone: () => setClearing(false),
  })
  return (
    <Page
      title="Queue"
      description="Which accounts sync, wait, or are scheduled, on all replicas. Lag is how long a change waits until it is stored."
      actions={
        <Button variant="default" leftSection={<IconRefreshCw size={16} />} onClick={() => setClearing(true)}>
          Clear delays and sync all
        </Button>
      }
    >
      {error !== null && data === undefined && (
        <Problem title="The totals could not be read" error={error} onRetry={() => void refetch()} />
      )}
      <Group gap="sm">
        {COUNTS.map(([name, label]) => (
          <Paper key={name} withBorder px="md" py="xs" className="count">
            <Text size="xs" c="dimmed">
              {label}
            </Text>
            <Text fw={650}>{data === undefined ? '…' : data[name].toLocaleString()}</Text>
          </Paper>
        ))}
      </Group>
      <Filters isFiltered={q !== ''} onClear={() => setUrl({ q: '' })}>
        <TextFilter label="Search address or user" value={q} onChange={(value) => setUrl({ q: value })} />
      </Filters>
      <DataTable
        caption="Accounts"
        path="/admin/queued-accounts"
        rows="accounts"
        query={{ q }}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/accounts/${id}`}
        live={['account.']}
        pollMs={POLL_MS}
        empty={
          q === '' ? (
            <Empty icon={IconListChecks} title="No mailbox is connected">
              Connect one under Accounts; it appears here at once.
            </Empty>
          ) : (
            <Empty icon={IconSearch} title="No account matches" />
          )
        }
      />
      <Confirm
        isOpen={isClearing}
        onClose={() => setClearing(false)}
        onConfirm={() => clear.mutate()}
        isRunning={clear.isPending}
        title="Sync every account now?"
        action="Sync all"
        isDangerous={false}
      >
        Failures and retry delays are reset, and every account that is not paused syncs now. Events, deliveries, the
        outbox and bookings are not affected.
      </Confirm>
    </Page>
  )
}

function State({ account: { state, attempts, lastError } }: { account: QueuedAccount }) {
  return (
    <div className="status-and-reason">
      <Status tone={attempts > 0 ? 'warn' : state === 'idle' ? 'quiet' : 'busy'}>
        {attempts > 0 ? `Failed ${attempts} ${attempts === 1 ? 'time' : 'times'}` : STATES[state]}
      </Status>
      {lastError !== null && (
        <Text size="xs" mt={4} className="wrap error-text">
          {lastError}
        </Text>
      )}
    </div>
  )
}

function SyncNow({ account }: { account: QueuedAccount }) {
  const sync = useAction(() => api.post(`/accounts/${account.id}/sync`), {
    invalidates: ['/admin/queued-accounts', '/debounced-queue'],
    done: `${account.email} syncs now.`,
  })
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`Sync now: ${account.email}`}
      disabled={account.paused}
      loading={sync.isPending}
      onClick={() => sync.mutate()}
    >
      Sync now
    </Button>
  )
}
