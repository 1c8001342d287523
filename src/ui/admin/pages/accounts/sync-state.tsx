import { Alert, Code, List, Paper, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useRead } from '../../api/queries.ts'
import type { Account, DebouncedQueueAccount } from '../../api/types.ts'
import { CopyIcon } from '../../parts/copy.tsx'
import { IconTriangleAlert } from '../../parts/icons.tsx'
import { duration, Time } from '../../parts/time.tsx'

/** When the account was synced, what sync does now, and why it failed last. */
export function SyncState({ account }: { account: Account }) {
  const { data } = useRead<DebouncedQueueAccount & { lagMs?: number | null }>(
    `/debounced-queue/accounts/${account.id}`,
    {},
    { live: ['account.', 'mailbox.', 'message.'], pollMs: 10_000 },
  )
  const isStopped = account.paused || account.status === 'auth_error'
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
        <Fact label="Last complete sync" value={<Time value={account.lastSyncAt} none="not yet" />} />
        <Fact label="Sync" value={describeState(data, isStopped)} />
        {typeof data?.lagMs === 'number' && !isStopped ? (
          <Fact label="Lag" value={data.lagMs < 1000 ? 'None' : duration(data.lagMs)} />
        ) : (
          <Fact label="Next poll" value={isStopped ? '–' : <Time value={data?.nextRunAt} none="when mail arrives" />} />
        )}
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

function describeState(data: DebouncedQueueAccount | undefined, isStopped: boolean): ReactNode {
  if (isStopped) return 'Stopped'
  if (data === undefined) return '–'
  if (data.state === 'active') return 'Running'
  return data.nextRunAt === null ? (
    'When mail arrives'
  ) : (
    <>
      Next <Time value={data.nextRunAt} />
    </>
  )
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
