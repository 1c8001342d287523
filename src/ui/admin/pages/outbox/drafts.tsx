import { Button, Drawer, Group, Paper, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Account, Draft, List } from '../../api/types.ts'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Fields } from '../../parts/fields.tsx'
import { IconFilePen, IconInbox } from '../../parts/icons.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'

const COLUMNS: readonly Column<Draft>[] = [
  { header: 'Subject', render: ({ subject }) => <span className="clamp">{subject || '(no subject)'}</span> },
  { header: 'To', render: ({ to }) => <span className="clamp">{to.join(', ') || '–'}</span> },
  { header: 'Attachments', render: ({ attachments }) => attachments.length || '–', isExtra: true, align: 'right' },
  { header: 'Changed', render: ({ updatedAt }) => <Time value={updatedAt} />, align: 'right' },
]

/** The drafts of one mailbox, because reading those of all would ask every mail server. */
export function Drafts() {
  const [{ accountId }, setUrl] = useUrlState(['accountId'])
  const [search, setSearch] = useState('')
  const accounts = useRead<List<'accounts', Account>>('/accounts', { limit: 50, q: search }, { live: ['account.'] })
  const options = accounts.data?.accounts ?? []
  const chosen = accountId || options[0]?.id
  const [open, setOpen] = useState<Draft | null>(null)
  const [asked, setAsked] = useState<'send' | 'delete' | null>(null)
  const close = () => {
    setAsked(null)
    setOpen(null)
  }
  const act = { invalidates: [`/accounts/${chosen}/drafts`, '/outbox', '/admin/overview'], onDone: close }
  const send = useAction((id: string) => api.post(`/drafts/${id}/send`), {
    ...act,
    done: 'The draft is in the outbox.',
  })
  const remove = useAction((id: string) => api.delete(`/drafts/${id}`), { ...act, done: 'The draft was deleted.' })
  if (accounts.data !== undefined && options.length === 0 && search === '') {
    return (
      <Paper withBorder>
        <Empty icon={IconInbox} title="No mailbox is connected">
          The drafts of connected mailboxes appear here.
        </Empty>
      </Paper>
    )
  }
  return (
    <>
      <Select
        label="Mailbox"
        maw={360}
        mb="md"
        searchable
        allowDeselect={false}
        data={options.map(({ id, email }) => ({ value: id, label: email }))}
        value={chosen ?? null}
        onSearchChange={(text) => setSearch(options.some(({ email }) => email === text) ? '' : text)}
        onChange={(value) => setUrl({ accountId: value })}
        nothingFoundMessage="No mailbox matches"
      />
      {chosen !== undefined && (
        <DataTable
          caption="Drafts"
          path={`/accounts/${chosen}/drafts`}
          rows="drafts"
          limit={20}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          onOpen={setOpen}
          live={['draft.']}
          empty={
            <Empty icon={IconFilePen} title="No drafts">
              Drafts of this mailbox appear here, whichever program saved them.
            </Empty>
          }
        />
      )}
      <Drawer
        opened={open !== null}
        onClose={close}
        position="right"
        size="lg"
        title="Draft"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {open !== null && (
          <Stack>
            <Text fw={650} className="wrap">
              {open.subject || '(no subject)'}
            </Text>
            <Group gap="xs">
              <Button
                onClick={() => setAsked('send')}
                disabled={open.to.length + open.cc.length + open.bcc.length === 0}
              >
                Send
              </Button>
              <Button variant="default" onClick={() => setAsked('delete')}>
                Delete
              </Button>
            </Group>
            <Fields
              items={[
                ['To', open.to.join(', ') || 'Nobody yet'],
                ['Cc', open.cc.length > 0 ? open.cc.join(', ') : undefined],
                ['Bcc', open.bcc.length > 0 ? open.bcc.join(', ') : undefined],
                ['Changed', <Time key="changed" value={open.updatedAt} />],
                ['Id', <Copyable key="id" value={open.id} label="Copy the id" />],
              ]}
            />
            <CodeBlock label={open.isHtml ? 'HTML' : 'Text'} value={open.body || '(empty)'} />
          </Stack>
        )}
      </Drawer>
      <Confirm
        isOpen={asked === 'send'}
        onClose={() => setAsked(null)}
        onConfirm={() => open !== null && send.mutate(open.id)}
        isRunning={send.isPending}
        title="Send this draft?"
        action="Send"
        isDangerous={false}
      >
        It is sent to {open?.to.join(', ')} as it is now.
      </Confirm>
      <Confirm
        isOpen={asked === 'delete'}
        onClose={() => setAsked(null)}
        onConfirm={() => open !== null && remove.mutate(open.id)}
        isRunning={remove.isPending}
        title="Delete this draft?"
        action="Delete the draft"
      >
        It is deleted in the mailbox too. This cannot be undone.
      </Confirm>
    </>
  )
}
