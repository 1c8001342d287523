import { Alert, Code, List, Paper, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../api/queries.ts'
import type { Account, DebouncedQueueAccount } from '../../api/types.ts'
import { CopyIcon } from '../../parts/copy.tsx'
import { IconTriangleAlert } from '../../parts/icons.tsx'
import { duration, Time } from '../../parts/time.tsx'

/** How the account learns of changes, when it was checked, and why sync failed last. */
export function SyncState({ account }: { account: Account }) {
  const { data } = useRead<DebouncedQueueAccount>(
    `/debounced-queue/accounts/${account.id}`,
    {},
    { live: ['account.', 'mailbox.', 'message.'], pollMs: 10_000 },
  )
  const isStopped = account.paused || account.status === 'auth_error'
  const isElsewhere = data?.watch === null && data.lagMs === null && !isStopped
  return (
    <>
      {data?.lastError != null && !isStopped && (
        <Alert color="orange" title={`Sync failed ${data.attempts === 1 ? 'once' : `${data.attempts} times in a row`}`}>
          <Text size="sm" className="wrap">
            {data.lastError}
          </Text>
          <Text size="sm" mt={4}>
            The service tries again <Time value={data.nextRunAt} none="soon" />.
          </Text>
        </Alert>
      )}
      {data !== undefined && data.unreadable.count > 0 && <Unreadable {...data.unreadable} />}
      <SimpleGrid cols={{ base: 2, md: 4 }} component="section" aria-label="Sync state">
        <Fact label="Sync" value={describeSync(account, data)} />
        {/* Only the owner knows when it checked last; it stores a check that found nothing once an hour. */}
        {isStopped || isElsewhere ? (
          <Fact label="Last stored sync" value={<Time value={account.lastSyncAt} none="not yet" />} />
        ) : (
          <Fact label="Checked" value={<Time value={data?.lastRunAt} none="not yet" hasSeconds />} />
        )}
        <Fact label="Lag" value={describeLag(data)} />
        <Fact
          label="Id"
          value={
            <>
              <Code className="truncate">{account.id}</Code>
              <CopyIcon value={account.id} label="Copy the id" />
            </>
          }
        />
      </SimpleGrid>
    </>
  )
}

/** Lists items that the provider does not return, although everything else is synced. */
function Unreadable({ count, items }: DebouncedQueueAccount['unreadable']) {
  return (
    <Alert
      mb="md"
      color="orange"
      icon={<IconTriangleAlert />}
      title={count === 1 ? '1 item cannot be read' : `${count} items cannot be read`}
    >
      <Text size="sm">
        Everything else is synced. The service tries each of them again, after longer and longer pauses.
      </Text>
      <List size="sm" mt="xs">
        {items.map(({ kind, providerId, folder, reason, failures, nextAttemptAt }) => (
          <List.Item key={`${kind} ${providerId}`} className="wrap">
            {kind === 'folder' ? `Folder ${folder ?? ''}` : 'Message'} <Code>{providerId}</Code>: {reason} (
            {failures === 1 ? 'once' : `${failures} times`}). Next attempt <Time value={nextAttemptAt} />.
          </List.Item>
        ))}
        {count > items.length && <List.Item>And {count - items.length} more.</List.Item>}
      </List>
    </Alert>
  )
}

const WATCHES = { idle: 'Live (IDLE)', push: 'Live (push)', poll: 'Polled' } as const

/** How the service learns of changes of the account, unless something prevents it. */
function describeSync({ paused, status }: Account, data: DebouncedQueueAccount | undefined): string {
  if (paused) return 'Paused'
  if (status === 'auth_error') return 'Stopped: sign-in needed'
  if (data === undefined) return '–'
  if (data.lastError !== null) return 'Failing'
  if (data.watch !== null) return WATCHES[data.watch]
  return data.lagMs === null ? 'On another instance' : 'Connecting'
}

function describeLag(data: DebouncedQueueAccount | undefined): string {
  if (data === undefined || data.lagMs === null) return '–'
  return data.lagMs < 1000 ? 'None' : duration(data.lagMs)
}

function Fact({ label, value }: { label: string; value: ReactNode }) {
  return (
    <Paper withBorder p="sm" px="md" miw={0}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600} component="div" className="fact">
        {value}
      </Text>
    </Paper>
  )
}
