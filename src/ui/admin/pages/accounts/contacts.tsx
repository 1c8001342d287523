import { Anchor, Button, Group, Paper, Text } from '@mantine/core'
import { useState } from 'react'
import type { ApiError } from '../../api/client.ts'
import type { Account, AddressBook, Contact } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { IconBookUser, IconChevronLeft } from '../../parts/icons.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { explainNoConsent, Failing, ReadingState, Unreadable } from './collections.tsx'

const number = new Intl.NumberFormat()

/** The address books of an account, with the state of their sync. */
export function Contacts({ account }: { account: Account }) {
  const [open, setOpen] = useState<AddressBook | null>(null)
  const [, setUrl] = useUrlState(['page'])
  const show = (book: AddressBook | null) => {
    setOpen(book)
    setUrl({ page: null })
  }
  if (open !== null) return <OpenBook book={open} onBack={() => show(null)} />
  const columns: readonly Column<AddressBook>[] = [
    {
      header: 'Address book',
      render: ({ name, default: isDefault, failure, unreadable }) => (
        <Group gap="4px 8px">
          <span className="wrap">{name || '(no name)'}</span>
          {isDefault && (
            <Text span size="xs" c="dimmed" miw="max-content">
              Default
            </Text>
          )}
          <ReadingState failure={failure} unreadable={unreadable.count > 0 && contactsText(unreadable.count)} />
        </Group>
      ),
    },
    { header: 'Contacts', render: ({ contacts }) => number.format(contacts), align: 'right' },
    { header: 'Synced', render: ({ syncedAt }) => <Time value={syncedAt} none="not yet" /> },
    { header: 'Access', render: ({ writable }) => (writable ? 'Can change' : 'Can read'), isExtra: true },
  ]
  return (
    <DataTable
      caption="Address books"
      path={`/accounts/${account.id}/address-books`}
      rows="addressBooks"
      columns={columns}
      rowKey={({ id }) => id}
      onOpen={show}
      live={['contact.']}
      explain={explain}
      empty={
        <Empty icon={IconBookUser} title="No address books">
          {account.provider === 'imap'
            ? 'No CardDAV server is known for this mailbox. Its owner can enter the address of a calendar and contact server when signing in again.'
            : 'They appear with the first sync.'}
        </Empty>
      }
    />
  )
}

function contactsText(count: number): string {
  return count === 1 ? '1 contact' : `${number.format(count)} contacts`
}

function explain(error: ApiError) {
  if (error.code !== 'not_supported') return explainNoConsent(error, 'No permission to read contacts', IconBookUser)
  return (
    <Paper withBorder>
      <Empty icon={IconBookUser} title="Contacts are not synced">
        {error.message}
      </Empty>
    </Paper>
  )
}

function OpenBook({ book, onBack }: { book: AddressBook; onBack(): void }) {
  const { id, accountId, name, failure, unreadable } = book
  const columns: readonly Column<Contact>[] = [
    { header: 'Contact', render: ({ displayName }) => <span className="wrap">{displayName || '(no name)'}</span> },
    { header: 'Email', render: ({ emails }) => <FirstOf values={emails.map(({ email }) => email)} /> },
    {
      header: 'Company',
      render: ({ companyName }) => <span className="clamp">{companyName ?? '–'}</span>,
      isExtra: true,
    },
    {
      header: 'Groups',
      render: ({ groups }) => <span className="clamp">{groups.map((group) => group.name).join(', ') || '–'}</span>,
      isExtra: true,
    },
    { header: 'Changed', render: ({ updatedAt }) => <Time value={updatedAt} />, isExtra: true },
  ]
  return (
    <>
      <Group mb="md">
        <Button variant="subtle" leftSection={<IconChevronLeft size={16} />} onClick={onBack}>
          All address books
        </Button>
        <Text fw={600}>{name}</Text>
      </Group>
      {failure !== null && (
        <Failing failure={failure} title="This address book cannot be read at the moment">
          Stored contacts are kept, and changes follow once it can be read.
        </Failing>
      )}
      {unreadable.count > 0 && <UnreadableContacts {...unreadable} />}
      <DataTable
        caption="Contacts"
        path={`/accounts/${accountId}/contacts`}
        rows="contacts"
        query={{ addressBookId: id }}
        columns={columns}
        rowKey={({ id: contactId }) => contactId}
        live={['contact.']}
        empty={
          <Empty icon={IconBookUser} title="No contacts">
            <Anchor component="button" type="button" inherit onClick={onBack}>
              See another address book
            </Anchor>
          </Empty>
        }
      />
    </>
  )
}

/** A list in little space. */
function FirstOf({ values }: { values: readonly string[] }) {
  const [first, ...more] = values
  return <span className="wrap">{first === undefined ? '–' : first + (more.length > 0 ? ` +${more.length}` : '')}</span>
}

function UnreadableContacts({ count, contacts }: AddressBook['unreadable']) {
  return (
    <Unreadable
      title={`${contactsText(count)} cannot be read as ${count === 1 ? 'it is' : 'they are'}`}
      count={count}
      items={contacts.map(({ providerContactId, reason }) => ({ id: providerContactId, reason }))}
    >
      {count === 1
        ? 'If a version of it was stored before, that version is kept. Its owner can mend it in the address book.'
        : 'Versions that were stored before are kept. Their owner can mend them in the address book.'}
    </Unreadable>
  )
}
