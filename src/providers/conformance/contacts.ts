import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  ContactFields,
  ContactStep,
  ContactsAccount,
  ContactsProvider,
  MailAccess,
  RemoteContact,
} from '../contract/index.ts'

/** An account with one empty address book, and the means of another program to change it. */
export interface ContactsFixture {
  provider: ContactsProvider
  access: MailAccess
  bookId: string
  /** What the provider cannot hold, so that a contact comes back without it. */
  lacks: readonly (keyof ContactFields)[]
  /** The provider keeps no types of addresses. */
  lacksEmailTypes?: boolean
  /** Creates a contact as another program, or replaces the one with this id. Returns the provider's id. */
  write(contact: Partial<ContactFields>, contactId?: string): Promise<string>
  remove(contactId: string): Promise<void>
  setPhoto(contactId: string, jpeg: Uint8Array): Promise<void>
  /** From now on, the provider knows no cursor that it has given. */
  expireCursors(): Promise<void>
  /** From now on, the provider refuses the password or token. */
  refuse(): Promise<void>
  stop(): Promise<void>
}

export const NO_FIELDS: ContactFields = {
  displayName: '',
  prefix: '',
  givenName: '',
  middleName: '',
  surname: '',
  suffix: '',
  nickname: '',
  birthday: null,
  companyName: '',
  department: '',
  jobTitle: '',
  managerName: '',
  officeLocation: '',
  notes: '',
  emails: [],
  phoneNumbers: [],
  physicalAddresses: [],
  webPages: [],
  imAddresses: [],
  categories: [],
}

const ZOE: ContactFields = {
  ...NO_FIELDS,
  displayName: 'Zoë Åkesson',
  givenName: 'Zoë',
  middleName: 'Maria',
  surname: 'Åkesson',
  nickname: 'Zo',
  birthday: '1985-04-12',
  companyName: 'Acme, Ltd; Sons',
  jobTitle: 'Engineer',
  notes: 'Met at the fair.\nLikes tea; and "quotes", \\ too.',
  emails: [
    { email: 'zoe@acme.example', type: 'work' },
    { email: 'zoe@home.example', type: 'home' },
  ],
  phoneNumbers: [{ number: '+46 8 123 456', type: 'mobile' }],
  physicalAddresses: [
    {
      type: 'work',
      streetAddress: 'Storgatan 1',
      city: 'Stockholm',
      postalCode: '111 22',
      state: 'Stockholm',
      country: 'Sweden',
    },
  ],
}
const BOB: ContactFields = {
  ...NO_FIELDS,
  displayName: 'Bob Example',
  givenName: 'Bob',
  surname: 'Example',
  emails: [{ email: 'bob@acme.example', type: 'work' }],
}
/** The smallest JPEG that programs accept: the markers of one pixel. */
export const JPEG = Uint8Array.from(
  Buffer.from(
    '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
    'base64',
  ),
)

interface Synced {
  found: Map<string, RemoteContact>
  removed: Set<string>
  cursor: string
}

/** The contract of `ContactsProvider`. */
export function contactsConformance(name: string, open: () => Promise<ContactsFixture>): void {
  describe(`${name} implements the contract of contacts`, () => {
    let fixture: ContactsFixture
    let account: ContactsAccount
    const { signal } = new AbortController()
    beforeEach(async () => {
      fixture = await open()
      account = fixture.provider.open(fixture.access)
    })
    afterEach(() => fixture.stop())

    async function sync(cursor: string | null): Promise<Synced> {
      const synced: Synced = { found: new Map(), removed: new Set(), cursor: cursor ?? '' }
      for await (const step of account.syncContacts({ bookId: fixture.bookId, cursor, signal })) apply(synced, step)
      expect(synced.cursor).not.toBe('')
      expect(synced.cursor.length).toBeLessThan(4096)
      return synced
    }

    /** What comes back of these fields. */
    function kept(fields: ContactFields): Partial<ContactFields> {
      const untyped = fields.emails.map((email) => ({ ...email, type: '' }))
      const without: [string, unknown][] = fixture.lacks.map((field) => [field, undefined])
      if (fixture.lacksEmailTypes) without.push(['emails', untyped])
      const { ...result } = { ...fields, ...Object.fromEntries(without) }
      return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined))
    }

    it('lists the address book, and one default', async () => {
      const books = await account.listBooks(signal)
      expect(books.filter(({ isDefault }) => isDefault)).toHaveLength(1)
      const book = books.find(({ bookId }) => bookId === fixture.bookId)
      expect(book).toMatchObject({ isWritable: true })
      expect(book?.name).not.toBe('')
    })

    it('reports every contact in the first sync, and nothing when nothing changed', async () => {
      const ids = [await fixture.write(ZOE), await fixture.write(BOB)]
      const first = await sync(null)
      expect([...first.found.keys()].sort()).toEqual([...ids].sort())
      const [zoe, bob] = ids.map((id) => first.found.get(id))
      expect(zoe).toMatchObject(kept(ZOE))
      expect(bob).toMatchObject(kept(BOB))
      expect(zoe?.uid).not.toBe('')
      const second = await sync(first.cursor)
      expect([second.found.size, second.removed.size]).toEqual([0, 0])
    })

    it('reports what was created, changed and deleted since the cursor, and the same again from the same cursor', async () => {
      const [zoe, bob] = [await fixture.write(ZOE), await fixture.write(BOB)]
      const { cursor, found } = await sync(null)
      await fixture.write({ ...ZOE, jobTitle: 'Director' }, zoe)
      await fixture.remove(bob)
      const added = await fixture.write({ ...BOB, givenName: 'Robert', displayName: 'Robert Example' })
      const changed = await sync(cursor)
      expect([...changed.found.keys()].sort()).toEqual([zoe, added].sort())
      expect(changed.found.get(zoe)).toMatchObject({ jobTitle: 'Director' })
      expect(changed.found.get(zoe)?.etag).not.toBe(found.get(zoe)?.etag)
      expect(changed.removed).toContain(bob)
      const again = await sync(cursor)
      expect([...again.found]).toEqual([...changed.found])
      expect([(await sync(changed.cursor)).found.size, (await sync(again.cursor)).found.size]).toEqual([0, 0])
    })

    it('refuses an expired cursor with cursor_expired, and reads everything again without one', async () => {
      const zoe = await fixture.write(ZOE)
      const { cursor } = await sync(null)
      await fixture.expireCursors()
      const bob = await fixture.write(BOB)
      await expect(sync(cursor)).rejects.toMatchObject({ name: 'ProviderError', kind: 'cursor_expired' })
      const again = await sync(null)
      expect([...again.found.keys()].sort()).toEqual([zoe, bob].sort())
      expect((await sync(again.cursor)).found.size).toBe(0)
    })

    it('reads the photo, or says that there is none', async () => {
      const [zoe, bob] = [await fixture.write(ZOE), await fixture.write(BOB)]
      await fixture.setPhoto(zoe, JPEG)
      const read = (contactId: string, maxBytes = 1_000_000) =>
        account.readPhoto({ bookId: fixture.bookId, contactId, maxBytes, signal })
      expect(Buffer.from((await read(zoe))?.bytes ?? []).equals(Buffer.from(JPEG))).toBe(true)
      expect(await read(bob)).toBeNull()
      await expect(read(zoe, 10)).rejects.toMatchObject({ kind: 'limit_exceeded' })
      const { found } = await sync(null)
      expect(found.get(zoe)?.hasPhoto).not.toBe(false)
      expect(found.get(bob)?.hasPhoto).not.toBe(true)
    })

    it('fails with not_found, auth_expired, and the reason of the signal', async () => {
      const drain = async (changes: { bookId?: string; signal?: AbortSignal }) => {
        const request = { bookId: fixture.bookId, cursor: null, signal, ...changes }
        for await (const _step of account.syncContacts(request));
      }
      const unknown = `${fixture.bookId.replace(/\/$/, '')}x${fixture.bookId.endsWith('/') ? '/' : ''}`
      await expect(drain({ bookId: unknown })).rejects.toMatchObject({ kind: 'not_found' })
      const reason = new Error('stopped')
      await expect(drain({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
      await fixture.refuse()
      await expect(drain({})).rejects.toMatchObject({ name: 'ProviderError', kind: 'auth_expired' })
      await expect(account.listBooks(signal)).rejects.toMatchObject({ kind: 'auth_expired' })
    })

    it('creates a contact once, changes single fields of it under its etag, and deletes it', async () => {
      const edits = fixture.provider.edits(fixture.access)
      const { bookId } = fixture
      const request = { bookId, key: '5f0c7a52-9d3e-4c43-8f5b-1d8f7f3f9a01', contact: ZOE, joinGroups: [], signal }
      const created = await edits.createContact(request)
      expect(created).toMatchObject(kept(ZOE))
      const { contactId } = created
      const synced = await sync(null)
      expect([...synced.found.keys()]).toEqual([contactId])
      expect(synced.found.get(contactId)).toMatchObject(kept(ZOE))
      const update = (changes: Partial<ContactFields>, etag: string | null) =>
        edits.updateContact({ bookId, contactId, changes, joinGroups: [], leaveGroups: [], etag, signal })
      const changed = await update({ jobTitle: 'Director', phoneNumbers: [] }, created.etag)
      expect(changed).toMatchObject({ ...kept(ZOE), jobTitle: 'Director', phoneNumbers: [] })
      await expect(update({ jobTitle: 'Owner' }, created.etag)).rejects.toMatchObject({ kind: 'conflict' })
      expect(await update({ nickname: '' }, null)).toMatchObject({ nickname: '', jobTitle: 'Director' })
      expect(await edits.getContact({ bookId, contactId }, signal)).toMatchObject({ nickname: '', notes: ZOE.notes })
      await expect(edits.deleteContact({ bookId, contactId, etag: created.etag, signal })).rejects.toMatchObject({
        kind: 'conflict',
      })
      await edits.deleteContact({ bookId, contactId, etag: null, signal })
      await edits.deleteContact({ bookId, contactId, etag: null, signal })
      await expect(edits.getContact({ bookId, contactId }, signal)).rejects.toMatchObject({ kind: 'not_found' })
      await expect(update({ nickname: 'Z' }, null)).rejects.toMatchObject({ kind: 'not_found' })
      expect((await sync(synced.cursor)).removed).toContain(contactId)
    })
  })
}

function apply(synced: Synced, { found, removed, cursor }: ContactStep): void {
  synced.cursor = cursor
  for (const contact of found) synced.found.set(contact.contactId, contact)
  for (const id of removed) {
    synced.removed.add(id)
    synced.found.delete(id)
  }
}
