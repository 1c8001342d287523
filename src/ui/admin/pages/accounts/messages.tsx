import { Group, Text } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import type { Account, Label, List, Message } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx'
import { IconMail, IconPaperclip, IconSearch, IconStar } from '../../parts/icons.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { MessageDrawer } from './message-drawer.tsx'

const COLUMNS: readonly Column<Message>[] = [
  {
    header: 'Subject',
    render: ({ subject, unread, starred, hasAttachments }) => (
      <Group gap={6} wrap="nowrap">
        <Text span inherit fw={unread ? 650 : 400} className="clamp">
          {subject || '(no subject)'}
        </Text>
        {starred && <IconStar size={14} />}
        {hasAttachments && <IconPaperclip size={14} />}
      </Group>
    ),
  },
  {
    header: 'From',
    render: ({ from }) => <span className="clamp">{from === null ? '–' : from.name || from.email}</span>,
  },
  { header: 'Folder', render: ({ folder }) => folder ?? '–', isExtra: true },
  { header: 'Received', render: ({ receivedAt }) => <Time value={receivedAt} />, align: 'right' },
]

/** Why there is no message: the mailbox is empty only if it was synced, and still is. */
function describeEmpty({ paused, status, lastSyncAt }: Account): { title: string; children: string } {
  const title = 'No messages here'
  if (paused) return { title, children: 'The account is paused. Messages appear when it is resumed.' }
  if (status === 'auth_error') return { title, children: 'The provider refuses the credentials, so nothing is synced.' }
  if (status === 'error') return { title, children: 'The mailbox cannot be synced at the moment.' }
  if (lastSyncAt === null) return { title: 'No messages yet', children: 'The first sync is not complete.' }
  return { title: 'No messages', children: 'The mailbox is empty.' }
}

export function Messages({ account }: { account: Account }) {
  const [{ label, q, message }, setUrl] = useUrlState(['label', 'q', 'message'])
  const labels = useRead<List<'labels', Label>>(`/accounts/${account.id}/labels`, { limit: 200, includeSystem: true })
  const path = `/accounts/${account.id}/messages`
  const isFiltered = label !== '' || q !== ''
  return (
    <>
      <Filters isFiltered={isFiltered} onClear={() => setUrl({ label: '', q: '' })}>
        <TextFilter label="Search messages" value={q} onChange={(value) => setUrl({ q: value })} />
        <ChoiceFilter
          label={account.provider === 'gmail' ? 'Label' : 'Folder'}
          width={220}
          value={label}
          options={(labels.data?.labels ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(value) => setUrl({ label: value })}
        />
      </Filters>
      <div className="after-filters">
        <DataTable
          caption="Messages"
          path={path}
          rows="messages"
          query={{ labelId: label, q }}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          onOpen={({ id }) => setUrl({ message: id }, { keepsPage: true })}
          live={['message.', 'mailbox.']}
          empty={
            isFiltered ? (
              <Empty icon={IconSearch} title="No message matches" />
            ) : (
              <Empty icon={IconMail} {...describeEmpty(account)} />
            )
          }
        />
      </div>
      <MessageDrawer
        accountId={account.id}
        messageId={message}
        onClose={() => setUrl({ message: '' }, { keepsPage: true })}
      />
    </>
  )
}
