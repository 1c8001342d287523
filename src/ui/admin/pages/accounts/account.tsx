import { Alert, Button, Group, Menu, Skeleton, Tabs } from '@mantine/core'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Account } from '../../api/types.ts'
import { Confirm } from '../../parts/confirm.tsx'
import {
  IconChevronDown,
  IconCircleX,
  IconInfo,
  IconPause,
  IconPlay,
  IconRefreshCw,
  IconScrollText,
  IconTrash,
  IconUser,
} from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { sentence } from '../../parts/sentence.ts'
import { useUrlState } from '../../parts/url-state.ts'
import { Access } from './access.tsx'
import { Calendars } from './calendars.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import { Contacts } from './contacts.tsx'
import { FolderChoice } from './folder-choice.tsx'
import { Labels } from './labels.tsx'
import { Messages } from './messages.tsx'
import { AccountStatus, PROVIDERS } from './status.tsx'
import { SyncState } from './sync-state.tsx'

/** Where the credentials are repaired. */
function accessHref({ connectionId, sharedWith }: Account): string {
  return connectionId === null ? `/accounts/${sharedWith}` : `/connections/${connectionId}`
}

const PARENT = { href: '/accounts', label: 'Accounts' }

export default function AccountPage({ accountId }: { accountId: string }) {
  const path = `/accounts/${accountId}`
  const { data: account, error, refetch } = useRead<Account>(path, {}, { live: ['account.'] })
  const [{ tab }, setUrl] = useUrlState(['tab', 'label', 'q', 'message'])
  const [dialog, setDialog] = useState<'sign-in' | 'delete' | null>(null)
  const [, navigate] = useLocation()
  const change = useAction((action: 'pause' | 'resume' | 'sync') => api.post<Account>(`${path}/${action}`), {
    invalidates: ['/accounts', '/debounced-queue', '/admin/overview'],
    done: 'Done. The state of the account follows.',
  })
  const remove = useAction(() => api.delete(path), {
    invalidates: ['/accounts', '/admin/overview'],
    removes: accountId,
    done: `${account?.email} was deleted. Its data is being erased.`,
    onDone: () => navigate('/accounts'),
  })
  if (account === undefined) {
    return (
      <Page title="Account" parent={PARENT}>
        {error === null ? (
          <Skeleton height={320} />
        ) : (
          <Problem title="This account cannot be shown" error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    )
  }
  const isPaused = account.paused
  /** The owner of the mailbox signs in. Otherwise a connection or another account opens it. */
  const hasOwnSignIn = account.connectionId === null && account.sharedWith === null
  return (
    <Page
      title={account.email}
      parent={PARENT}
      badge={<AccountStatus status={account.status} />}
      description={
        <>
          {PROVIDERS[account.provider]}
          {account.customUserId !== null && ` · ${account.customUserId}`}
          {!hasOwnSignIn && (
            <>
              {' · '}
              <Access account={account} />
            </>
          )}
        </>
      }
      actions={
        <>
          <Button
            component={Link}
            href={`/logs?accountId=${account.id}`}
            variant="default"
            leftSection={<IconScrollText size={16} />}
          >
            Logs
          </Button>
          <Button
            variant="default"
            leftSection={<IconRefreshCw size={16} />}
            onClick={() => change.mutate('sync')}
            disabled={isPaused}
            loading={change.isPending}
          >
            Sync now
          </Button>
          <Menu position="bottom-end" width={220}>
            <Menu.Target>
              <Button variant="default" rightSection={<IconChevronDown size={16} />}>
                More
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {hasOwnSignIn && (
                <Menu.Item leftSection={<IconUser size={16} />} onClick={() => setDialog('sign-in')}>
                  Sign in again
                </Menu.Item>
              )}
              <Menu.Item
                leftSection={isPaused ? <IconPlay size={16} /> : <IconPause size={16} />}
                onClick={() => change.mutate(isPaused ? 'resume' : 'pause')}
              >
                {isPaused ? 'Resume' : 'Pause'}
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
      {account.status === 'auth_error' && (
        <Alert color="red" icon={<IconCircleX />} title="The provider refuses the credentials">
          {sentence(account.statusReason)} Mail is not synced until{' '}
          {hasOwnSignIn ? 'the owner signs in again' : 'this is repaired'}; nothing is lost meanwhile.
          <Group mt="sm">
            {hasOwnSignIn ? (
              <Button size="compact-sm" onClick={() => setDialog('sign-in')}>
                Create a link to sign in
              </Button>
            ) : (
              <Button size="compact-sm" component={Link} href={accessHref(account)}>
                {account.connectionId === null ? 'Open the account that is signed in' : 'Open the connection'}
              </Button>
            )}
          </Group>
        </Alert>
      )}
      {account.status === 'error' && (
        <Alert color="orange" icon={<IconInfo />} title="The mailbox cannot be synced at the moment">
          {sentence(account.statusReason)} The service tries again by itself.
        </Alert>
      )}
      {isPaused && (
        <Alert color="gray" icon={<IconPause />} title="This account is paused">
          Nothing is synced. When it is resumed, the next sync catches up on everything that changed meanwhile.
          <Group mt="sm">
            <Button size="compact-sm" onClick={() => change.mutate('resume')} loading={change.isPending}>
              Resume
            </Button>
          </Group>
        </Alert>
      )}
      <SyncState account={account} />
      <Tabs
        value={tab || 'messages'}
        onChange={(value) => setUrl({ tab: value === 'messages' ? '' : value, label: '', q: '', message: '' })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="messages">Messages</Tabs.Tab>
          <Tabs.Tab value="labels">{account.provider === 'gmail' ? 'Labels' : 'Folders'}</Tabs.Tab>
          <Tabs.Tab value="calendars">Calendars</Tabs.Tab>
          <Tabs.Tab value="contacts">Contacts</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="messages">
          <Messages account={account} />
        </Tabs.Panel>
        <Tabs.Panel value="labels">
          <Labels account={account} />
          {account.provider === 'imap' && <FolderChoice account={account} />}
        </Tabs.Panel>
        <Tabs.Panel value="calendars">
          <Calendars account={account} />
        </Tabs.Panel>
        <Tabs.Panel value="contacts">
          <Contacts account={account} />
        </Tabs.Panel>
      </Tabs>
      <ConnectDialog account={account} isOpen={dialog === 'sign-in'} onClose={() => setDialog(null)} />
      <Confirm
        isOpen={dialog === 'delete'}
        onClose={() => setDialog(null)}
        onConfirm={() => remove.mutate()}
        isRunning={remove.isPending}
        title="Delete this account?"
        action="Delete the account"
        typed={account.email}
      >
        The account disappears at once, and its messages, drafts, calendars and contacts are erased here. The mailbox
        itself is not touched. This cannot be undone.
      </Confirm>
    </Page>
  )
}
