import { Button, Code, Group, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import type { ApiKey } from '../../api/types.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { IconKeyRound, IconPlus } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { KeyDialog } from './key-dialog.tsx'

export default function Keys() {
  const [{ create }, setUrl] = useUrlState(['create'])
  const [secret, setSecret] = useState<string>()
  const [revoked, setRevoked] = useState<ApiKey | null>(null)
  const columns = useMemo(() => columnsWith(setRevoked), [])
  const revoke = useAction((id: string) => api.delete(`/api-keys/${encodeURIComponent(id)}`), {
    invalidates: ['/api-keys'],
    done: 'The key was revoked.',
    onDone: () => setRevoked(null),
  })
  const button = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setUrl({ create: '1' })}>
      Create a key
    </Button>
  )
  return (
    <Page
      title="API keys"
      description="Keys with which programs call the API, each with the scopes that it needs. The key of SERVICE_API_KEY is not listed: it has all scopes, and is changed in the configuration."
      actions={button}
    >
      <DataTable
        caption="API keys"
        path="/api-keys"
        rows="apiKeys"
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={IconKeyRound} title="No key yet" action={button}>
            Give each program a key of its own, so that you can revoke it without stopping the others.
          </Empty>
        }
      />
      <KeyDialog
        isOpen={create !== ''}
        onClose={() => setUrl({ create: '' })}
        onCreated={({ key }) => setSecret(key)}
      />
      <SecretDialog secret={secret} title="The new key" label="API key" onClose={() => setSecret(undefined)}>
        Programs send it as Authorization: Bearer.
      </SecretDialog>
      <Confirm
        isOpen={revoked !== null}
        onClose={() => setRevoked(null)}
        onConfirm={() => revoked !== null && revoke.mutate(revoked.id)}
        isRunning={revoke.isPending}
        title="Revoke this key?"
        action="Revoke the key"
      >
        Programs that use <b>{revoked?.name}</b> are refused at once, on every replica. This cannot be undone.
      </Confirm>
    </Page>
  )
}

function columnsWith(onRevoke: (key: ApiKey) => void): readonly Column<ApiKey>[] {
  return [
    {
      header: 'Name',
      render: ({ name, hint }) => (
        <>
          <Text span inherit fw={550} className="wrap">
            {name}
          </Text>{' '}
          <Code>…{hint}</Code>
        </>
      ),
    },
    {
      header: 'Scopes',
      render: ({ scopes }) => (
        <Group gap={4}>
          {scopes.map((scope) => (
            <Status key={scope} tone={scope === 'admin' ? 'warn' : 'quiet'}>
              {scope}
            </Status>
          ))}
        </Group>
      ),
    },
    { header: 'Last used', render: ({ lastUsedAt }) => <Time value={lastUsedAt} none="never" /> },
    { header: 'Expires', render: ({ expiresAt }) => <Time value={expiresAt} none="never" /> },
    { header: 'Created by', render: ({ createdBy }) => createdBy, isExtra: true },
    {
      header: 'Actions',
      align: 'right',
      render: (key) => (
        <Button size="compact-sm" variant="default" aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
          Revoke
        </Button>
      ),
    },
  ]
}
