import { Button, Group, Progress, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Account, Backfill } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ChoiceFilter, Filters } from '../../parts/filters.tsx'
import { IconHistory, IconPlay, IconSearch, IconSettings } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Status, type Tone } from '../../parts/status.tsx'
import { duration, Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { ConfigDialog } from './config-dialog.tsx'
import { StartDialog } from './start-dialog.tsx'

/** A running one changes with each batch. */
const POLL_MS = 3000

const STATUSES: Readonly<Record<Backfill['status'], { label: string; tone: Tone }>> = {
  idle: { label: 'Not started', tone: 'quiet' },
  running: { label: 'Running', tone: 'busy' },
  paused: { label: 'Paused', tone: 'warn' },
  completed: { label: 'Complete', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  cancelled: { label: 'Cancelled', tone: 'quiet' },
}
/** Actions that each state allows. */
const ACTIONS: Readonly<Record<Backfill['status'], readonly Action[]>> = {
  idle: ['start'],
  running: ['pause', 'cancel'],
  paused: ['resume', 'restart', 'cancel'],
  completed: ['restart'],
  failed: ['resume', 'restart', 'cancel'],
  cancelled: ['restart'],
}
type Action = 'start' | 'pause' | 'resume' | 'restart' | 'cancel'
const LABELS: Readonly<Record<Action, { label: string; done: string }>> = {
  start: { label: 'Start', done: 'The backfill was started.' },
  pause: { label: 'Pause', done: 'The backfill was paused.' },
  resume: { label: 'Resume', done: 'The backfill continues.' },
  restart: { label: 'Restart', done: 'The backfill begins anew.' },
  cancel: { label: 'Cancel', done: 'The backfill was cancelled.' },
}

const COLUMNS: readonly Column<Backfill>[] = [
  { header: 'Account', render: ({ accountId }) => <AccountName accountId={accountId} /> },
  { header: 'Progress', render: (backfill) => <Progressed backfill={backfill} />, width: '34%' },
  { header: 'State', render: ({ status }) => <Status tone={STATUSES[status].tone}>{STATUSES[status].label}</Status> },
  { header: 'Back to', render: ({ oldestReached }) => <Time value={oldestReached} />, isExtra: true },
  { header: 'Actions', render: (backfill) => <Actions backfill={backfill} />, align: 'right' },
]

export default function Backfills() {
  const [{ status }, setUrl] = useUrlState(['status'])
  const [dialog, setDialog] = useState<'start' | 'config' | null>(null)
  const start = (
    <Button leftSection={<IconPlay size={16} />} onClick={() => setDialog('start')}>
      Start a backfill
    </Button>
  )
  return (
    <Page
      title="Backfills"
      description="Reads the older mail of accounts in the background, newest first, beside the sync of new mail. Stored messages emit no events."
      actions={
        <>
          <Button variant="default" leftSection={<IconSettings size={16} />} onClick={() => setDialog('config')}>
            Settings
          </Button>
          {start}
        </>
      }
    >
      <Filters isFiltered={status !== ''} onClear={() => setUrl({ status: '' })}>
        <ChoiceFilter
          label="State"
          value={status}
          options={Object.entries(STATUSES)
            .filter(([value]) => value !== 'idle')
            .map(([value, { label }]) => ({ value, label }))}
          onChange={(value) => setUrl({ status: value })}
        />
      </Filters>
      <DataTable
        caption="Backfills"
        path="/historical-sync"
        rows="backfills"
        query={{ status }}
        columns={COLUMNS}
        rowKey={({ accountId }) => accountId}
        pollMs={POLL_MS}
        empty={
          status === '' ? (
            <Empty icon={IconHistory} title="No account has a backfill" action={start}>
              A new account syncs its newest messages. A backfill reads the rest of a time range that you choose.
            </Empty>
          ) : (
            <Empty icon={IconSearch} title="No backfill in this state" />
          )
        }
      />
      <StartDialog isOpen={dialog === 'start'} onClose={() => setDialog(null)} />
      <ConfigDialog isOpen={dialog === 'config'} onClose={() => setDialog(null)} />
    </Page>
  )
}

function AccountName({ accountId }: { accountId: string }) {
  const { data } = useRead<Account>(`/accounts/${accountId}`, {}, { pollMs: false })
  return (
    <Link href={`/accounts/${accountId}`} className="inline-link">
      {data?.email ?? accountId}
    </Link>
  )
}

function Progressed({ backfill }: { backfill: Backfill }) {
  const { status, processed, total, ratePerMinute, secondsLeft, lastError } = backfill
  const percent =
    status === 'completed' ? 100 : total === null || total === 0 ? 0 : Math.min(100, (100 * processed) / total)
  const texts = [
    total === null
      ? `${processed.toLocaleString()} messages`
      : `${processed.toLocaleString()} of ${total.toLocaleString()}`,
    status === 'running' && ratePerMinute !== null ? `${Math.round(ratePerMinute).toLocaleString()} per minute` : '',
    status === 'running' && secondsLeft !== null ? `${duration(secondsLeft * 1000)} left` : '',
  ]
  return (
    <div className="progress">
      <Progress value={percent} animated={status === 'running'} aria-label={`${Math.floor(percent)} % done`} />
      <Text size="xs" c="dimmed" mt={4}>
        {texts.filter((text) => text !== '').join(' · ')}
      </Text>
      {lastError !== null && (
        <Text size="xs" className="wrap error-text">
          {lastError}
        </Text>
      )}
    </div>
  )
}

function Actions({ backfill: { accountId, status } }: { backfill: Backfill }) {
  return (
    <Group gap={6} justify="flex-end">
      {ACTIONS[status].map((action) => (
        <ActionButton key={action} action={action} accountId={accountId} />
      ))}
    </Group>
  )
}

function ActionButton({ action, accountId }: { action: Action; accountId: string }) {
  const run = useAction(() => api.post(`/historical-sync/${action}/${encodeURIComponent(accountId)}`), {
    invalidates: ['/historical-sync'],
    done: LABELS[action].done,
  })
  return (
    <Button size="compact-sm" variant="default" loading={run.isPending} onClick={() => run.mutate()}>
      {LABELS[action].label}
    </Button>
  )
}
