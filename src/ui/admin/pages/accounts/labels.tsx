import { Anchor, Button, ColorSwatch, Group } from '@mantine/core'
import { Link } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { Account, Label } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { IconRefreshCw, IconTag } from '../../parts/icons.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

export function Labels({ account }: { account: Account }) {
  const path = `/accounts/${account.id}/labels`
  const refresh = useAction(() => api.post(`${path}/sync`), {
    invalidates: [path],
    done: 'Read again from the provider.',
  })
  const columns: readonly Column<Label>[] = [
    {
      header: 'Name',
      render: ({ id, name, color }) => (
        <Group gap={8} wrap="nowrap">
          {color !== null && <ColorSwatch color={color} size={12} withShadow={false} />}
          <Anchor
            component={Link}
            inherit
            href={`/accounts/${account.id}?label=${encodeURIComponent(id)}`}
            className="wrap"
          >
            {name}
          </Anchor>
        </Group>
      ),
    },
    { header: 'Use', render: ({ role }) => (role === null ? '–' : role) },
    {
      header: 'Kind',
      render: ({ type }) => <Status tone="quiet">{type === 'system' ? 'System' : 'User'}</Status>,
      isExtra: true,
    },
    { header: 'Changed', render: ({ updatedAt }) => <Time value={updatedAt} />, isExtra: true },
  ]
  return (
    <>
      <Group mb="md">
        <Button
          variant="default"
          leftSection={<IconRefreshCw size={16} />}
          loading={refresh.isPending}
          onClick={() => refresh.mutate()}
        >
          Read from the provider
        </Button>
      </Group>
      <DataTable
        caption="Labels"
        path={path}
        rows="labels"
        query={{ includeSystem: true }}
        columns={columns}
        rowKey={({ id }) => id}
        live={['mailbox.', 'label.']}
        empty={
          <Empty icon={IconTag} title="No labels yet">
            They appear with the first sync.
          </Empty>
        }
      />
    </>
  )
}
