import { Alert, Button, Drawer, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Account, OutboxMessage } from '../../api/types.ts'
import { AccountFilter } from '../../parts/account-picker.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Fields } from '../../parts/fields.tsx'
import { ChoiceFilter, Filters } from '../../parts/filters.tsx'
import { IconSearch, IconSend } from '../../parts/icons.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status, type Tone } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'

const COLUMNS: readonly Column<OutboxMessage>[] = [
  { header: 'Subject', render: ({ subject }) => <span className="clamp">{subject || '(no subject)'}</span> },
  { header: 'Status', render: ({ status }) => <OutboxStatus status={status} /> },
  { header: 'To', render: ({ to }) => <span className="clamp">{to.map(({ email }) => email).join(', ') || '–'}</span> },
  { header: 'From', render: ({ from }) => <span className="clamp">{from.email}</span>, isExtra: true },
  {
    header: 'Time',
    render: ({ sentAt, nextAttemptAt, sendAt, createdAt }) => (
      <Time value={sentAt ?? nextAttemptAt ?? sendAt ?? createdAt} />
    ),
    align: 'right',
  },
]

/** Messages of all accounts in the outbox. */
export function Sending() {
  const [{ status, accountId, open }, setUrl] = useUrlState(['status', 'accountId', 'open'])
  const isFiltered = status !== '' || accountId !== ''
  const clear = () => setUrl({ status: '', accountId: '' })
  return (
    <>
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="Status"
          value={status}
          options={Object.entries(STATUSES).map(([value, { label }]) => ({ value, label }))}
          onChange={(value) => setUrl({ status: value })}
        />
        <AccountFilter label="Account" value={accountId} onChange={(value) => setUrl({ accountId: value })} />
      </Filters>
      <div className="after-filters">
        <DataTable
          caption="Outbox"
          path="/outbox"
          rows="messages"
          query={{ status, accountId }}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          onOpen={({ id }) => setUrl({ open: id }, { keepsPage: true })}
          live={['message.']}
          empty={
            isFiltered ? (
              <Empty
                icon={IconSearch}
                title="No message matches"
                action={
                  <Button variant="default" onClick={clear}>
                    Clear filters
                  </Button>
                }
              />
            ) : (
              <Empty icon={IconSend} title="Nothing was sent yet">
                Messages that your application sends through the API appear here.
              </Empty>
            )
          }
        />
      </div>
      <Drawer
        opened={open !== ''}
        onClose={() => setUrl({ open: '' }, { keepsPage: true })}
        position="right"
        size="lg"
        title="Message"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {open !== '' && <Detail id={open} />}
      </Drawer>
    </>
  )
}

type Decision = 'sent' | 'retry' | 'discard'

function Detail({ id }: { id: string }) {
  const path = `/outbox/${id}`
  const { data: message, error, refetch } = useRead<OutboxMessage>(path, {}, { live: ['message.'], pollMs: 5000 })
  const account = useRead<Account>(
    `/accounts/${message?.accountId}`,
    {},
    { enabled: message !== undefined, pollMs: false },
  )
  const [asked, setAsked] = useState<Decision | 'cancel' | null>(null)
  const options = { invalidates: ['/outbox', '/admin/overview'], onDone: () => setAsked(null) }
  const resolve = useAction((as: Decision) => api.post(`${path}/resolve`, { as }), { ...options, done: 'Done.' })
  const cancel = useAction(() => api.delete(path), { ...options, done: 'The message was cancelled.' })
  if (message === undefined) {
    return error === null ? (
      <Skeleton height={260} />
    ) : (
      <Problem title="This message cannot be shown" error={error} onRetry={() => void refetch()} />
    )
  }
  const isDecided = message.status === 'failed' || message.status === 'uncertain'
  return (
    <Stack>
      <Group>
        <OutboxStatus status={message.status} />
        <Text fw={650} className="wrap">
          {message.subject || '(no subject)'}
        </Text>
      </Group>
      {message.status === 'uncertain' && (
        <Alert color="orange" title="Did this message arrive?">
          The connection broke during the transfer, and the message is not in Sent. The service never sends it again by
          itself, because the recipients may have received it.
        </Alert>
      )}
      {message.error !== null && message.status !== 'uncertain' && (
        <Alert color="red" title="The message was not sent">
          {message.error.message}
        </Alert>
      )}
      {message.copyError !== null && (
        <Alert color="orange" title="The message was sent, but is not in Sent">
          <Text size="sm" className="wrap">
            {message.copyError.message.charAt(0).toUpperCase()}
            {message.copyError.message.slice(1)}.
          </Text>
          <Text size="sm" mt={4}>
            {message.copyError.nextAttemptAt === null ? (
              'The service has given up.'
            ) : (
              <>
                The service tries again <Time value={message.copyError.nextAttemptAt} />.
              </>
            )}
          </Text>
        </Alert>
      )}
      {isDecided && (
        <Group gap="xs">
          <Button onClick={() => setAsked('retry')}>Send again</Button>
          {message.status === 'uncertain' && (
            <Button variant="default" onClick={() => resolve.mutate('sent')} loading={resolve.isPending}>
              It arrived
            </Button>
          )}
          <Button variant="default" onClick={() => setAsked('discard')}>
            Discard
          </Button>
        </Group>
      )}
      {(message.status === 'scheduled' || message.status === 'queued') && (
        <Group>
          <Button variant="default" color="red" onClick={() => setAsked('cancel')}>
            Cancel the message
          </Button>
        </Group>
      )}
      <Fields
        items={[
          [
            'Account',
            <Link key="account" href={`/accounts/${message.accountId}`} className="inline-link">
              {account.data?.email ?? message.accountId}
            </Link>,
          ],
          ['From', message.from.email],
          ['To', message.to.map(({ email }) => email).join(', ') || '–'],
          ...(message.cc.length > 0 ? [['Cc', message.cc.map(({ email }) => email).join(', ')] as const] : []),
          ...(message.bcc.length > 0 ? [['Bcc', message.bcc.map(({ email }) => email).join(', ')] as const] : []),
          ['Size', `${Math.max(1, Math.round(message.size / 1000)).toLocaleString()} kB`],
          ['Attempts', message.attempts],
          ['Created', <Time key="created" value={message.createdAt} />],
          ['To be sent', message.sendAt === null ? undefined : <Time key="sendAt" value={message.sendAt} />],
          [
            'Next attempt',
            message.nextAttemptAt === null ? undefined : <Time key="next" value={message.nextAttemptAt} />,
          ],
          ['Sent', <Time key="sent" value={message.sentAt} />],
          ['Id', <Copyable key="id" value={message.id} label="Copy the id" />],
        ]}
      />
      {message.refused.map(({ email, diagnostic }) => (
        <Alert key={`refused ${email}`} color="red" title={`${email} was refused`}>
          {diagnostic}
        </Alert>
      ))}
      {message.bounced.map(({ email, kind, diagnostic, bouncedAt }) => (
        <Alert
          key={`${email} ${bouncedAt}`}
          color="orange"
          title={`${email}: ${kind === 'permanent' ? 'not delivered' : 'delayed'}`}
        >
          {diagnostic ?? 'The report gives no reason.'} <Time value={bouncedAt} />
        </Alert>
      ))}
      <Confirm
        isOpen={asked === 'retry'}
        onClose={() => setAsked(null)}
        onConfirm={() => resolve.mutate('retry')}
        isRunning={resolve.isPending}
        title="Send this message again?"
        action="Send again"
        isDangerous={message.status === 'uncertain'}
      >
        {message.status === 'uncertain'
          ? 'If the first one arrived, its recipients get the message twice.'
          : 'The service queues the message and tries again at once.'}
      </Confirm>
      <Confirm
        isOpen={asked === 'discard'}
        onClose={() => setAsked(null)}
        onConfirm={() => resolve.mutate('discard')}
        isRunning={resolve.isPending}
        title="Discard this message?"
        action="Discard"
      >
        The service gives it up. It stays in the list as cancelled.
      </Confirm>
      <Confirm
        isOpen={asked === 'cancel'}
        onClose={() => setAsked(null)}
        onConfirm={() => cancel.mutate()}
        isRunning={cancel.isPending}
        title="Cancel this message?"
        action="Cancel the message"
      >
        It is not sent. This cannot be undone.
      </Confirm>
    </Stack>
  )
}

const STATUSES: Record<OutboxMessage['status'], { label: string; tone: Tone }> = {
  scheduled: { label: 'Scheduled', tone: 'quiet' },
  queued: { label: 'Waiting', tone: 'busy' },
  sending: { label: 'Sending', tone: 'busy' },
  sent: { label: 'Sent', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  uncertain: { label: 'Uncertain', tone: 'warn' },
  cancelled: { label: 'Cancelled', tone: 'quiet' },
}

function OutboxStatus({ status }: { status: OutboxMessage['status'] }) {
  const { label, tone } = STATUSES[status]
  return <Status tone={tone}>{label}</Status>
}
