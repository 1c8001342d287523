import { expect, it } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { catalogue } from '../../app/feature-list.ts'
import { recorder } from '../../events/index.ts'
import { insertRows } from '../../platform/db/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { systemClock as clock } from '../../platform/time/clock.ts'
import type { ContactStep, ContactsAccount, RemoteContact } from '../../providers/contract/index.ts'
import { EMPTY_CONTACT } from '../edit/input.ts'
import { bookStore, newBookRow } from '../store.ts'
import { syncBook } from './book.ts'

const CONTACTS = 250
/** Of a listing. One step takes three. */
const TRANSACTIONS = [1, 2]

const buildContact = (n: number): RemoteContact => ({
  ...EMPTY_CONTACT,
  contactId: `contact-${n}`,
  uid: `contact-${n}`,
  etag: null,
  groupIds: [],
  hasPhoto: null,
  updatedAt: null,
  displayName: `${n}`,
})

describeEachDatabase('a first sync of an address book', (open) => {
  it.each(TRANSACTIONS)(
    'interrupted after %i transactions stores every contact once, and none that was deleted meanwhile',
    async (transactions) => {
      const db = await open()
      const { link, bus } = testAccounts(db)
      const { id: accountId } = await link()
      const ids = idGenerator(clock)
      const row = newBookRow(
        { bookId: 'people', name: 'People', isWritable: true, isDefault: true },
        { id: ids('cbk'), accountId, nowMs: clock.now() },
      )
      await db.transaction((tx) => insertRows(tx, 'contactBooks', [row]))
      const remote = new Map(Array.from({ length: CONTACTS }, (_, n) => [n, buildContact(n)]))
      const account = {
        async *syncContacts(): AsyncGenerator<ContactStep> {
          yield { found: [...remote.values()], removed: [], cursor: 'end' }
        },
      } as unknown as ContactsAccount
      let left = transactions
      const fence = async () => {
        left -= 1
        if (left < 0) throw new Error('interrupted')
      }
      const deps = { db, clock, ids, events: recorder({ catalogue, clock, ids, bus }), fence }
      const owned = {
        accountId,
        epoch: 1,
        provider: 'imap',
        remote: account,
        signal: new AbortController().signal,
      } as const
      const stored = async () => (await bookStore(db.read).get(row.id)) ?? row

      await expect(syncBook(deps, owned, row)).rejects.toThrow('interrupted')
      left = Number.POSITIVE_INFINITY
      remote.delete(0)
      remote.delete(CONTACTS - 1)
      await syncBook(deps, owned, await stored())

      const rows = await db.read.selectFrom('contacts').select('providerId').execute()
      const expected = [...remote.values()].map(({ contactId }) => contactId)
      expect(rows.map(({ providerId }) => providerId).sort()).toEqual(expected.sort())
      expect(await stored()).toMatchObject({ contacts: CONTACTS - 2, cursor: 'end' })
      expect(await db.read.selectFrom('events').select('type').where('type', 'like', 'contact.%').execute()).toEqual([])
    },
  )
})
