import { expect, it } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { catalogue } from '../../app/feature-list.ts'
import { recorder } from '../../events/index.ts'
import { type Db, insertRows } from '../../platform/db/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { systemClock as clock } from '../../platform/time/clock.ts'
import {
  type ContactStep,
  type ContactsAccount,
  ProviderError,
  type RemoteContact,
} from '../../providers/contract/index.ts'
import { EMPTY_CONTACT } from '../edit/input.ts'
import { bookStore, newBookRow } from '../store.ts'
import { applyChanges } from './apply.ts'
import { syncBook } from './book.ts'

const MINUTE_MS = 60_000

const contact = (contactId: string, fields: Partial<RemoteContact> = {}): RemoteContact => ({
  ...EMPTY_CONTACT,
  contactId,
  uid: contactId,
  etag: null,
  groupIds: [],
  hasPhoto: null,
  updatedAt: null,
  displayName: contactId,
  ...fields,
})

const step = (found: RemoteContact[], more: Partial<ContactStep> = {}): ContactStep => ({
  found,
  removed: [],
  cursor: 'next',
  ...more,
})

const expired = () => new ProviderError('cursor_expired', 'reading changes: everything must be read again')

/** An address book whose provider reads what `read` yields for a cursor. */
async function bookOf(db: Db, read: (cursor: string | null) => Iterable<ContactStep>) {
  const { link, bus } = testAccounts(db)
  const { id: accountId } = await link()
  const ids = idGenerator(clock)
  const listed = { bookId: 'people', name: 'People', isWritable: true, isDefault: true }
  const row = newBookRow(listed, { id: ids('cbk'), accountId, nowMs: clock.now() })
  await db.transaction((tx) => insertRows(tx, 'contactBooks', [row]))
  const stored = async () => (await bookStore(db.read).get(row.id)) ?? row
  let aheadMs = 0
  const deps = {
    db,
    ids,
    events: recorder({ catalogue, clock, ids, bus }),
    clock: { ...clock, now: () => clock.now() + aheadMs },
    fence: async () => {},
  }
  const remote = {
    async *syncContacts({ cursor }: { cursor: string | null }) {
      yield* read(cursor)
    },
  } as unknown as ContactsAccount
  const signal = new AbortController().signal
  return {
    stored,
    sync: async () => syncBook(deps, { accountId, epoch: 1, provider: 'imap', remote, signal }, await stored()),
    /** As a request to the API that creates a contact. */
    create: (created: RemoteContact) =>
      db.transaction(async (tx) => {
        const context = { book: await stored(), provider: 'imap', nowMs: deps.clock.now(), isAnnounced: true } as const
        await applyChanges(deps, tx, { ...context, source: { apiChange: 1 } }, { found: [created], removed: [] })
      }),
    pass(ms: number) {
      aheadMs += ms
    },
    async contacts() {
      const rows = await db.read.selectFrom('contacts').select('providerId').orderBy('providerId').execute()
      return rows.map(({ providerId }) => providerId)
    },
    /** `name: uid` of each member. */
    async members() {
      const rows = await db.read
        .selectFrom('contactGroups')
        .leftJoin('contactGroupMembers', 'contactGroupMembers.groupId', 'contactGroups.id')
        .select(['contactGroups.name', 'contactGroupMembers.memberUid'])
        .execute()
      return rows.map(({ name, memberUid }) => `${name}: ${memberUid}`).sort()
    },
    async events() {
      const rows = await db.read
        .selectFrom('events')
        .select(['type', 'data'])
        .where('type', 'like', 'contact.%')
        .execute()
      return rows.map(({ type, data }) => `${type} ${JSON.parse(data).displayName}`).sort()
    },
  }
}

describeEachDatabase('sync of an address book', (open) => {
  it.each([
    ['the new object is found before the old one is removed', [{ removed: [] }, { removed: ['old'] }]],
    ['both are in one step', [{ removed: ['old'] }]],
  ])('keeps the categories of a contact that moved to another object when %s', async (_, changes) => {
    const moved = contact('new', { uid: 'lin', categories: ['Friends', 'Press'] })
    const book = await bookOf(await open(), (cursor) =>
      cursor === null
        ? [step([contact('old', { uid: 'lin', categories: ['Friends', 'Work'] })])]
        : changes.map(({ removed }, at) => step(at === 0 ? [moved] : [], { removed })),
    )
    await book.sync()
    expect(await book.members()).toEqual(['Friends: lin', 'Work: lin'])
    await book.sync()
    expect(await book.contacts()).toEqual(['new'])
    expect(await book.members()).toEqual(['Friends: lin', 'Press: lin'])
  })

  it('keeps a contact that the API created and that the provider does not list yet, and announces it once', async () => {
    let listings = 0
    const late = contact('late')
    const book = await bookOf(await open(), function* (cursor) {
      if (cursor === 'old') throw expired()
      if (cursor === null) listings += 1
      yield step(cursor === null ? [contact('a')] : [late], { cursor: listings === 1 ? 'next' : 'old' })
    })
    await book.create(late)
    await book.sync()
    expect(await book.contacts()).toEqual(['a', 'late'])
    await book.sync()
    expect(await book.contacts()).toEqual(['a', 'late'])
    expect(await book.events()).toEqual(['contact.created late'])
  })

  it('removes a contact that the API created once the provider had time to show it', async () => {
    const book = await bookOf(await open(), () => [step([contact('a')])])
    await book.create(contact('gone'))
    book.pass(20 * MINUTE_MS)
    await book.sync()
    expect(await book.contacts()).toEqual(['a'])
  })

  it('forgets what was deleted before a listing whose cursor expired begins again', async () => {
    let listings = 0
    const book = await bookOf(await open(), function* (cursor) {
      if (cursor === 'second page') {
        yield step([contact('a'), contact('gone')], { cursor: 'third page' })
        throw expired()
      }
      listings += 1
      yield step(listings === 1 ? [] : [contact('a')], { cursor: 'second page' })
      if (listings === 1) throw new Error('interrupted')
    })
    await expect(book.sync()).rejects.toThrow('interrupted')
    await book.sync()
    expect(await book.contacts()).toEqual(['a'])
    expect(await book.stored()).toMatchObject({ contacts: 1 })
  })

  it('removes groups that were deleted while the cursor was unknown, and announces who left', async () => {
    let isExpired = false
    const group = (groupId: string, members: string[]) => ({ groupId, name: groupId, isWritable: false, members })
    const book = await bookOf(await open(), function* (cursor) {
      if (cursor !== null && isExpired) throw expired()
      const groups = [group('kept', ['a']), ...(isExpired ? [] : [group('gone', ['a', 'b'])])]
      yield step([contact('a'), contact('b')], { groups })
    })
    await book.sync()
    expect(await book.members()).toEqual(['gone: a', 'gone: b', 'kept: a'])
    isExpired = true
    await book.sync()
    expect(await book.members()).toEqual(['kept: a'])
    expect(await book.events()).toEqual(['contact.updated a', 'contact.updated b'])
  })
})
