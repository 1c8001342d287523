import { Alert, Anchor, Button, Group, Menu, Skeleton } from '@mantine/core'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Connection } from '../../api/types.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { Fields } from '../../parts/fields.tsx'
import { IconChevronDown, IconCircleX, IconFilePen, IconInbox, IconKeyRound, IconTrash } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Section } from '../../parts/section.tsx'
import { sentence } from '../../parts/sentence.ts'
import { Time } from '../../parts/time.tsx'
import { EditDialog, SecretDialog } from './change-dialogs.tsx'
import { Directory } from './directory.tsx'
import { accountsText, ConnectionStatus, PROVIDERS } from './names.tsx'

const PARENT = { href: '/connections', label: 'Connections' }

export default function ConnectionPage({ connectionId }: { connectionId: string }) {
  const path = `/connections/${encodeURIComponent(connectionId)}`
  const { data: connection, error, refetch } = useRead<Connection>(path, {}, { live: ['account.'] })
  const [dialog, setDialog] = useState<'secret' | 'edit' | 'delete' | null>(null)
  const [, navigate] = useLocation()
  const remove = useAction((force: boolean) => api.delete(path, { force: force || null }), {
    invalidates: ['/connections', '/accounts', '/admin/overview'],
    removes: path,
    done: `${connection?.name} was deleted.`,
    onDone: () => navigate('/connections'),
  })
  if (connection === undefined) {
    return (
      <Page title="Connection" parent={PARENT}>
        {error === null ? (
          <Skeleton height={320} />
        ) : (
          <Problem title="This connection cannot be shown" error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    )
  }
  const { id, name, provider, status, statusReason, accountCount } = connection
  const accountsHref = `/accounts?connectionId=${encodeURIComponent(id)}`
  const close = () => setDialog(null)
  return (
    <Page
      title={name}
      parent={PARENT}
      badge={<ConnectionStatus status={status} />}
      description={PROVIDERS[provider]}
      actions={
        <>
          <Button component={Link} href={accountsHref} variant="default" leftSection={<IconInbox size={16} />}>
            {accountsText(accountCount)}
          </Button>
          <Button variant="default" leftSection={<IconKeyRound size={16} />} onClick={() => setDialog('secret')}>
            Replace the secret
          </Button>
          <Menu position="bottom-end" width={180}>
            <Menu.Target>
              <Button variant="default" rightSection={<IconChevronDown size={16} />}>
                More
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconFilePen size={16} />} onClick={() => setDialog('edit')}>
                {provider === 'gmail' ? 'Edit' : 'Rename'}
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => setDialog('delete')}>
                Delete
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      }
    >
      {status === 'auth_error' && (
        <Alert color="red" icon={<IconCircleX />} title="The provider refuses the credentials">
          {sentence(statusReason)} Its accounts are not synced until this is repaired; nothing is lost meanwhile.
          <Group mt="sm">
            <Button size="compact-sm" onClick={() => setDialog('secret')}>
              Replace the secret
            </Button>
          </Group>
        </Alert>
      )}
      <Directory connection={connection} onRefused={() => void refetch()} />
      <Section title="Credentials" description="Secrets are stored encrypted, and never shown.">
        <Fields items={credentialItems(connection)} />
      </Section>
      <SecretDialog connection={connection} isOpen={dialog === 'secret'} onClose={close} />
      <EditDialog connection={connection} isOpen={dialog === 'edit'} onClose={close} />
      <Confirm
        isOpen={dialog === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutate(accountCount > 0)}
        isRunning={remove.isPending}
        title="Delete this connection?"
        action={accountCount === 0 ? 'Delete the connection' : `Delete it and ${accountsText(accountCount)}`}
        {...(accountCount > 0 && { typed: name })}
      >
        {accountCount === 0 ? (
          'No account uses it. Its credentials are erased. This cannot be undone.'
        ) : (
          <>
            <Anchor component={Link} href={accountsHref} inherit underline="always">
              {accountsText(accountCount)}
            </Anchor>{' '}
            {accountCount === 1 ? 'uses it and is' : 'use it and are'} deleted, too. Messages, drafts, calendars and
            contacts are erased here; the mailboxes themselves are not touched. This cannot be undone.
          </>
        )}
      </Confirm>
    </Page>
  )
}

function credentialItems(connection: Connection) {
  const { provider, tenantId, clientId, thumbprint, serviceAccountEmail, keyId, adminEmail } = connection
  const id = ['Id', <Copyable key="id" value={connection.id} label="Copy the id" />] as const
  const times = [
    ['Created', <Time key="created" value={connection.createdAt} />],
    ['Changed', <Time key="changed" value={connection.updatedAt} />],
  ] as const
  const client = clientId === null ? '–' : <Copyable key="client" value={clientId} label="Copy the client id" />
  if (provider === 'gmail') {
    return [
      id,
      ['Service account', serviceAccountEmail],
      ['Client id', client],
      ['Key', keyId],
      ['Administrator', adminEmail ?? 'None: the directory is not read'],
      ...times,
    ] as const
  }
  return [
    id,
    ['Tenant', tenantId],
    ['Application id', client],
    ['Signs in with', thumbprint === null ? 'A client secret' : `The certificate ${thumbprint}`],
    ...times,
  ] as const
}
