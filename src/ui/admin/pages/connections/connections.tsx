import { Button, Group, Text } from '@mantine/core'
import { useLocation } from 'wouter'
import type { Connection } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { IconBuilding, IconExternalLink, IconPlus } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { CreateDialog } from './create-dialog.tsx'
import { ConnectionStatus, GUIDE, PROVIDERS } from './names.tsx'

const COLUMNS: readonly Column<Connection>[] = [
  {
    header: 'Name',
    render: ({ name }) => (
      <Text span inherit fw={550} className="wrap">
        {name}
      </Text>
    ),
  },
  { header: 'Provider', render: ({ provider }) => PROVIDERS[provider] },
  {
    header: 'Status',
    render: ({ status, statusReason }) => (
      <div>
        <ConnectionStatus status={status} />
        {statusReason !== null && (
          <Text size="sm" c="dimmed" className="clamp-1" title={statusReason}>
            {statusReason}
          </Text>
        )}
      </div>
    ),
  },
  { header: 'Accounts', align: 'right', render: ({ accountCount }) => accountCount.toLocaleString() },
  { header: 'Created', isExtra: true, render: ({ createdAt }) => <Time value={createdAt} /> },
]

export default function Connections() {
  const [{ create }, setUrl] = useUrlState(['create'])
  const [, navigate] = useLocation()
  const button = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setUrl({ create: '1' })}>
      Add a connection
    </Button>
  )
  return (
    <Page
      title="Connections"
      description="Organisations whose mailboxes are opened with the consent of an administrator, so that no user has to sign in."
      actions={button}
    >
      <DataTable
        caption="Connections"
        path="/connections"
        rows="connections"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/connections/${encodeURIComponent(id)}`}
        live={['account.']}
        empty={
          <Empty
            icon={IconBuilding}
            title="No connection yet"
            action={
              <Group gap="xs" justify="center">
                {button}
                <Button
                  component="a"
                  href={GUIDE}
                  target="_blank"
                  rel="noreferrer"
                  variant="default"
                  rightSection={<IconExternalLink size={16} />}
                >
                  Read the guide
                </Button>
              </Group>
            }
          >
            A connection has the credentials of an application for one Microsoft 365 tenant or one Google Workspace.
            With it you connect mailboxes by their addresses, hundreds if you like, and nobody has to sign in.
          </Empty>
        }
      />
      <CreateDialog
        isOpen={create !== ''}
        onClose={() => setUrl({ create: '' })}
        onCreated={({ id }) => navigate(`/connections/${encodeURIComponent(id)}`)}
      />
    </Page>
  )
}
