import { Alert, Anchor, Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { Account, Connection, DirectoryUser } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Filters, TextFilter } from '../../parts/filters.tsx'
import { IconPlus, IconSearch, IconTriangleAlert, IconUser } from '../../parts/icons.tsx'
import { Section } from '../../parts/section.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { AddressDialog } from './address-dialog.tsx'
import { ADMIN_GUIDES } from './names.tsx'

const LABELS = { first: 'First page', next: 'Next page' }

/** The users of the organisation, read live from its directory, each with its account or a button that connects it. */
export function Directory({
  connection,
  onRefused,
}: {
  connection: Connection
  /** The provider refuses the credentials, which the status of the connection then says, too. */
  onRefused(): void
}) {
  const [{ q }, setUrl] = useUrlState(['q'])
  const [isOpen, setOpen] = useState(false)
  const connect = useAction((email: string) => api.post<Account>('/accounts', { connectionId: connection.id, email }), {
    invalidates: ['/connections', '/accounts', '/admin/overview'],
    done: ({ email }) => `${email} is connected. Its first sync has started.`,
  })
  const columns: readonly Column<DirectoryUser>[] = [
    {
      header: 'Address',
      render: ({ email }) => (
        <Text span inherit fw={550} className="wrap">
          {email}
        </Text>
      ),
    },
    { header: 'User', render: ({ name }) => name, isExtra: true },
    {
      header: 'Mailbox',
      align: 'right',
      render: ({ email, accountId }) =>
        accountId === null ? (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Connect ${email}`}
            loading={connect.isPending && connect.variables === email}
            disabled={connect.isPending && connect.variables !== email}
            onClick={() => connect.mutate(email)}
          >
            Connect
          </Button>
        ) : (
          <Anchor component={Link} href={`/accounts/${accountId}`} inherit aria-label={`Open the account of ${email}`}>
            Open the account
          </Anchor>
        ),
    },
  ]
  const byAddress = (
    <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setOpen(true)}>
      Connect an address
    </Button>
  )
  return (
    <Section
      title="Users of the organisation"
      description="Read from its directory. A mailbox that is not listed is connected by its address."
      actions={byAddress}
    >
      <Stack>
        <Filters isFiltered={q !== ''} onClear={() => setUrl({ q: '' })}>
          <TextFilter label="Search name or address" value={q} onChange={(value) => setUrl({ q: value })} />
        </Filters>
        <DataTable
          caption="Users"
          path={`/connections/${encodeURIComponent(connection.id)}/users`}
          rows="users"
          query={{ q }}
          columns={columns}
          rowKey={({ id }) => id}
          pollMs={false}
          hasCursor
          cursorLabels={LABELS}
          onError={({ code }) => code === 'provider_rejected' && onRefused()}
          explain={({ code, message }) =>
            code === 'consent_required' ? <NoDirectory connection={connection} message={message} /> : undefined
          }
          empty={
            q === '' ? (
              <Empty icon={IconUser} title="The directory has no users">
                Only users with an address are shown.
              </Empty>
            ) : (
              <Empty icon={IconSearch} title="No user matches">
                The search compares the beginnings of names and addresses.
              </Empty>
            )
          }
        />
      </Stack>
      <AddressDialog connection={connection} isOpen={isOpen} onClose={() => setOpen(false)} />
    </Section>
  )
}

function NoDirectory({ connection, message }: { connection: Connection; message: string }) {
  return (
    <Alert color="orange" icon={<IconTriangleAlert />} title="The permission for the directory is missing">
      <Text size="sm">{message}</Text>
      <Text size="sm" mt={4}>
        <Anchor href={ADMIN_GUIDES[connection.provider]} target="_blank" rel="noreferrer" inherit underline="always">
          What the administrator does
        </Anchor>
      </Text>
    </Alert>
  )
}
