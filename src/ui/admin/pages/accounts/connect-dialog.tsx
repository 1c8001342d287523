import { Alert, Button, Center, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { api, ROOT } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Account } from '../../api/types.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { IconArrowRight, IconCircleCheck, IconExternalLink } from '../../parts/icons.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status, type Tone } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

const QrCode = lazy(() => import('./qr-code.tsx'))

interface AuthSession {
  code: string
  authUrl: string
  expiresAt: string
}

interface AuthState {
  status: 'pending' | 'started' | 'completed' | 'failed' | 'expired'
  accountId: string | null
  failureCode: string | null
}

interface ConnectDialogProps {
  isOpen: boolean
  onClose(): void
  /** The account that its owner signs in to again. */
  account?: Account
}

/** Creates a link with which the owner of a mailbox connects it, and follows what happens with it. */
export function ConnectDialog({ isOpen, onClose, account }: ConnectDialogProps) {
  const [session, setSession] = useState<AuthSession | null>(null)
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      onExitTransitionEnd={() => setSession(null)}
      title={account === undefined ? 'Connect a mailbox' : `Sign in to ${account.email} again`}
      size="md"
    >
      {session === null ? (
        <LinkForm {...(account && { account })} onClose={onClose} onCreated={setSession} />
      ) : (
        <LinkView session={session} onClose={onClose} onAgain={() => setSession(null)} />
      )}
    </Modal>
  )
}

function LinkForm({
  account,
  onClose,
  onCreated,
}: {
  account?: Account
  onClose(): void
  onCreated(session: AuthSession): void
}) {
  const [provider, setProvider] = useState<string | null>(account?.provider ?? null)
  const [email, setEmail] = useState(account?.email ?? '')
  const [customUserId, setCustomUserId] = useState(account?.customUserId ?? '')
  const [minutes, setMinutes] = useState('30')
  const create = useAction(
    () =>
      api.post<AuthSession>('/auth/sessions', {
        redirectUri: new URL('admin/connected', ROOT).href,
        expiresInMinutes: Number(minutes),
        provider,
        email: email.trim() || null,
        customUserId: customUserId.trim() || null,
      }),
    { invalidates: [], onDone: onCreated, toastError: false },
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate()
      }}
    >
      <Stack>
        <Text size="sm" c="dimmed">
          The link opens a page on which the owner signs in. Open it yourself, or send it to them. Everything below is
          optional.
        </Text>
        {create.error !== null && <Problem title="The link could not be created" error={create.error} />}
        {account === undefined && (
          <>
            <Select
              label="Provider"
              placeholder="The owner chooses"
              clearable
              clearButtonProps={{ 'aria-label': 'Let the owner choose' }}
              data={[
                { value: 'gmail', label: 'Gmail' },
                { value: 'microsoft', label: 'Microsoft' },
                { value: 'imap', label: 'IMAP' },
              ]}
              value={provider}
              onChange={setProvider}
            />
            <TextInput
              label="Address"
              description="Filled in on the page"
              data-autofocus
              type="email"
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <TextInput
              label="Your user"
              description="The id of the user in your application (customUserId)"
              maxLength={256}
              value={customUserId}
              onChange={(event) => setCustomUserId(event.currentTarget.value)}
            />
          </>
        )}
        <Select
          label="The link is valid for"
          allowDeselect={false}
          data={[
            { value: '30', label: '30 minutes' },
            { value: '240', label: '4 hours' },
            { value: '1440', label: '24 hours' },
          ]}
          value={minutes}
          onChange={(value) => setMinutes(value ?? '30')}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create the link
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const STATES: Record<AuthState['status'], { label: string; tone: Tone }> = {
  pending: { label: 'Waiting for the owner', tone: 'quiet' },
  started: { label: 'The page is open', tone: 'busy' },
  completed: { label: 'Connected', tone: 'good' },
  failed: { label: 'The last attempt failed', tone: 'warn' },
  expired: { label: 'Expired', tone: 'bad' },
}

function LinkView({ session, onClose, onAgain }: { session: AuthSession; onClose(): void; onAgain(): void }) {
  const { data } = useRead<AuthState>(`/auth/sessions/${session.code}`, {}, { pollMs: 2000 })
  const status = data?.status ?? 'pending'
  const { label, tone } = STATES[status]
  if (status === 'completed' && data?.accountId) {
    return (
      <Stack>
        <Alert color="teal" icon={<IconCircleCheck />} title="The mailbox is connected">
          Its first sync has started.
        </Alert>
        <Group justify="flex-end">
          <Button variant="default" onClick={onAgain}>
            Connect another
          </Button>
          <Button component={Link} href={`/accounts/${data.accountId}`} rightSection={<IconArrowRight size={16} />}>
            Open the account
          </Button>
        </Group>
      </Stack>
    )
  }
  return (
    <Stack>
      <Group justify="space-between">
        <Status tone={tone}>{label}</Status>
        <Text size="sm" c="dimmed">
          Expires <Time value={session.expiresAt} />
        </Text>
      </Group>
      {status === 'failed' && (
        <Alert color="orange">
          The owner can try again with the same link. Reason: <code>{data?.failureCode ?? 'unknown'}</code>
        </Alert>
      )}
      <TextInput label="Link" readOnly value={session.authUrl} onFocus={(event) => event.currentTarget.select()} />
      <Group grow>
        <CopyButton value={session.authUrl}>Copy the link</CopyButton>
        <Button
          component="a"
          href={session.authUrl}
          target="_blank"
          rel="noreferrer"
          rightSection={<IconExternalLink size={16} />}
        >
          Open it here
        </Button>
      </Group>
      <Center py="xs">
        <Suspense fallback={null}>
          <QrCode text={session.authUrl} label="QR code of the link" />
        </Suspense>
      </Center>
      <Text size="xs" c="dimmed" ta="center">
        Scan it with a phone. Anyone who has the link can connect one mailbox with it.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
      </Group>
    </Stack>
  )
}
