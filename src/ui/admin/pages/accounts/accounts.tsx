import { Button, Text } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import type { Account, Connection } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx'
import { IconInbox, IconPlus, IconSearch } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { ConnectDialog } from './connect-dialog.tsx'
import { AccountStatus, PROVIDERS, STATUSES } from './status.tsx'

const COLUMNS: readonly Column<Account>[] = [
  {
    header: 'Mailbox',
    render: ({ email }) => (
      <Text span inherit fw={550}>
        {email}
      </Text>
    ),
  },
  { header: 'Status', render: ({ status }) => <AccountStatus status={status} /> },
  { header: 'Provider', render: ({ provider }) => PROVIDERS[provider], isExtra: true },
  {
    header: 'Your user',
    render: ({ customUserId }) =>
      customUserId ?? (
        <Text span inherit c="dimmed">
          –
        </Text>
      ),
    isExtra: true,
  },
  { header: 'Sync', render: (account) => <LastSync account={account} /> },
  { header: 'Connected', render: ({ createdAt }) => <Time value={createdAt} />, isExtra: true },
]

/** The time of the last sync is stored when something changed, so that of a mailbox in sync says nothing. */
function LastSync({ account: { status, lastSyncAt } }: { account: Account }) {
  if (status === 'connected') return 'In sync'
  return lastSyncAt === null ? (
    'Not yet'
  ) : (
    <span>
      Last sync <Time value={lastSyncAt} />
    </span>
  )
}

export default function Accounts() {
  const [{ q, status, provider, connectionId, connect }, setUrl] = useUrlState([
    'q',
    'status',
    'provider',
    'connectionId',
    'connect',
  ])
  const isFiltered = q !== '' || status !== '' || provider !== '' || connectionId !== ''
  const clear = () => setUrl({ q: '', status: '', provider: '', connectionId: '' })
  const openDialog = () => setUrl({ connect: '1' })
  const button = (
    <Button leftSection={<IconPlus size={16} />} onClick={openDialog}>
      Connect a mailbox
    </Button>
  )
  return (
    <Page title="Accounts" description="The mailboxes that this service syncs." actions={button}>
      <Filters isFiltered={isFiltered} onClear={clear}>
        <TextFilter label="Search address or user" value={q} onChange={(value) => setUrl({ q: value })} />
        <ChoiceFilter
          label="Status"
          value={status}
          options={Object.entries(STATUSES).map(([value, { label }]) => ({ value, label }))}
          onChange={(value) => setUrl({ status: value })}
        />
        <ChoiceFilter
          label="Provider"
          value={provider}
          options={Object.entries(PROVIDERS).map(([value, label]) => ({ value, label }))}
          onChange={(value) => setUrl({ provider: value })}
        />
        {connectionId !== '' && (
          <ConnectionFilter connectionId={connectionId} onClear={() => setUrl({ connectionId: '' })} />
        )}
      </Filters>
      <DataTable
        caption="Accounts"
        path="/accounts"
        rows="accounts"
        query={{ q, status, provider, connectionId }}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/accounts/${id}`}
        live={['account.']}
        empty={
          isFiltered ? (
            <Empty
              icon={IconSearch}
              title="No account matches"
              action={
                <Button variant="default" onClick={clear}>
                  Clear filters
                </Button>
              }
            >
              Try a part of the address, or another status.
            </Empty>
          ) : (
            <Empty icon={IconInbox} title="No mailbox is connected" action={button}>
              Create a link and open it, or send it to the owner of the mailbox. The first messages appear within a
              minute.
            </Empty>
          )
        }
      />
      <ConnectDialog isOpen={connect !== ''} onClose={() => setUrl({ connect: '' })} />
    </Page>
  )
}

/** Set by the page of a connection. */
function ConnectionFilter({ connectionId, onClear }: { connectionId: string; onClear(): void }) {
  const path = `/connections/${encodeURIComponent(connectionId)}`
  const { data } = useRead<Connection>(path, {}, { pollMs: false })
  return (
    <ChoiceFilter
      label="Connection"
      value={connectionId}
      options={[{ value: connectionId, label: data?.name ?? connectionId }]}
      onChange={onClear}
    />
  )
}
