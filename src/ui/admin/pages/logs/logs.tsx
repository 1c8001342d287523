import { Alert, Badge, Button, Code, Drawer, Group, Stack, Switch, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { useRead } from '../../api/queries.ts'
import type { Account, LogEntry } from '../../api/types.ts'
import { AccountFilter } from '../../parts/account-picker.tsx'
import { CodeBlock, pretty } from '../../parts/code-block.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Fields } from '../../parts/fields.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx'
import { IconScrollText, IconSearch } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { duration, exactTime, Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { useLogTail } from './tail.ts'

const LEVELS = {
  fatal: 'Fatal',
  error: 'Error',
  warn: 'Warning',
  info: 'Info',
  debug: 'Debug',
  trace: 'Trace',
} as const
const COLORS: Record<LogEntry['level'], string> = {
  fatal: 'red',
  error: 'red',
  warn: 'orange',
  info: 'blue',
  debug: 'gray',
  trace: 'gray',
}

const COLUMNS: readonly Column<LogEntry>[] = [
  { header: 'Message', render: ({ message }) => <span className="clamp">{message}</span> },
  { header: 'Level', render: ({ level }) => <Level level={level} />, width: 100 },
  {
    header: 'Operation',
    render: ({ operation }) => (operation === null ? '–' : <Code>{operation}</Code>),
    isExtra: true,
  },
  { header: 'Time', render: ({ timestamp }) => <Time value={timestamp} />, align: 'right', width: 140 },
]

function Level({ level }: { level: LogEntry['level'] }) {
  return (
    <Badge variant="light" radius="sm" color={COLORS[level]} className="status">
      {LEVELS[level]}
    </Badge>
  )
}

export default function Logs() {
  const [{ level, provider, operation, accountId, requests, page }, setUrl] = useUrlState([
    'level',
    'provider',
    'operation',
    'accountId',
    'requests',
    'page',
  ])
  const [isFollowing, setFollowing] = useState(true)
  const [open, setOpen] = useState<LogEntry | null>(null)
  const isFiltered = [level, provider, operation, accountId].some((value) => value !== '')
  const filter = { level, provider, operation: operation || (requests === '' ? '' : '*'), accountId }
  const clear = () => setUrl({ level: '', provider: '', operation: '', accountId: '' })
  const isFirstPage = page === ''
  const isStreaming = useLogTail(filter, isFollowing && isFirstPage)
  // A record that the reader is about to open must not move away.
  useEffect(() => {
    if (open !== null) setFollowing(false)
  }, [open])
  return (
    <Page
      title="Sync logs"
      description="What the service did and what failed. Each replica keeps its newest 2,000 records."
      actions={
        <Group gap="lg">
          <Switch
            label="HTTP requests"
            checked={requests !== ''}
            onChange={(event) => setUrl({ requests: event.currentTarget.checked ? '1' : '' })}
          />
          <Switch
            label="Follow new records"
            checked={isFollowing && isFirstPage}
            onChange={(event) => {
              setFollowing(event.currentTarget.checked)
              if (event.currentTarget.checked) setUrl({ page: null })
            }}
          />
        </Group>
      }
    >
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="Level"
          width={140}
          value={level}
          options={Object.entries(LEVELS).map(([value, label]) => ({ value, label }))}
          onChange={(value) => setUrl({ level: value })}
        />
        <ChoiceFilter
          label="Provider"
          width={150}
          value={provider}
          options={[
            { value: 'gmail', label: 'Gmail' },
            { value: 'microsoft', label: 'Microsoft' },
            { value: 'imap', label: 'IMAP' },
          ]}
          onChange={(value) => setUrl({ provider: value })}
        />
        <TextFilter
          label="Operation"
          width={190}
          value={operation}
          onChange={(value) => setUrl({ operation: value })}
        />
        <AccountFilter label="Account" value={accountId} onChange={(value) => setUrl({ accountId: value })} />
      </Filters>
      {accountId !== '' && <AccountNote accountId={accountId} />}
      <DataTable
        caption="Records"
        path="/logs"
        rows="logs"
        limit={50}
        query={filter}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={setOpen}
        pollMs={isFollowing && isFirstPage ? (isStreaming ? 60_000 : 5000) : false}
        empty={
          isFiltered ? (
            <Empty
              icon={IconSearch}
              title="No record matches"
              action={
                <Button variant="default" onClick={clear}>
                  Clear filters
                </Button>
              }
            >
              Levels are matched exactly. Records from before the last start are not kept here.
            </Empty>
          ) : (
            <Empty icon={IconScrollText} title="No records yet" />
          )
        }
      />
      <Drawer
        opened={open !== null}
        onClose={() => setOpen(null)}
        position="right"
        size="lg"
        title="Log record"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {open !== null && <Detail entry={open} />}
      </Drawer>
    </Page>
  )
}

function AccountNote({ accountId }: { accountId: string }) {
  const { data } = useRead<Account>(`/accounts/${encodeURIComponent(accountId)}`, {}, { pollMs: false })
  if (data === undefined) return null
  return (
    <Alert color="indigo" p="xs" px="md">
      Records about{' '}
      <Link href={`/accounts/${data.id}`} className="inline-link">
        {data.email}
      </Link>
    </Alert>
  )
}

function Detail({ entry }: { entry: LogEntry }) {
  return (
    <Stack>
      <Group>
        <Level level={entry.level} />
        <Text size="sm" c="dimmed">
          {exactTime(entry.timestamp)}
        </Text>
      </Group>
      <Text className="wrap">{entry.message}</Text>
      <Fields
        items={[
          ['Operation', entry.operation],
          [
            'Account',
            entry.accountId === null ? null : (
              <Link key="account" href={`/accounts/${entry.accountId}`} className="inline-link">
                {entry.accountId}
              </Link>
            ),
          ],
          ['Provider', entry.provider],
          ['Duration', entry.durationMs === null ? null : duration(entry.durationMs)],
          [
            'Request',
            entry.requestId === null ? null : (
              <Copyable key="request" value={entry.requestId} label="Copy the request id" />
            ),
          ],
          ['Replica', entry.instance],
        ]}
      />
      {entry.error !== null && <CodeBlock label="Error" value={pretty(entry.error)} />}
      {entry.metadata !== null && <CodeBlock label="Metadata" value={pretty(entry.metadata)} />}
    </Stack>
  )
}
