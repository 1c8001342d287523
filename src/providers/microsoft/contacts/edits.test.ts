import { describe, expect, it, onTestFinished } from 'vitest'
import { drainSteps } from '../../../../test/servers/contact-steps.ts'
import { type MicrosoftContactsFixture, microsoftContacts } from '../../../../test/servers/microsoft-contacts.ts'
import { NO_FIELDS } from '../../conformance/contacts.ts'
import type { ContactFields } from '../../contract/index.ts'

const { signal } = new AbortController()

async function open(...args: Parameters<typeof microsoftContacts>): Promise<MicrosoftContactsFixture> {
  const fixture = await microsoftContacts(...args)
  onTestFinished(fixture.stop)
  return fixture
}

describe('changes of Microsoft contacts', () => {
  const update = (
    { edits, bookId }: MicrosoftContactsFixture,
    contactId: string,
    changes: Partial<ContactFields>,
    etag: string | null = null,
  ) => edits.updateContact({ bookId, contactId, changes, joinGroups: [], leaveGroups: [], etag, signal })

  it('writes only what changes, and keeps what Graph shows and this service does not', async () => {
    const fixture = await open()
    const { graph, user } = fixture
    const id = graph.contacts.put(user, {
      displayName: 'Zoë Åkesson',
      givenName: 'Zoë',
      surname: 'Åkesson',
      spouseName: 'Ann',
      emailAddresses: [{ address: 'zoe@acme.test', name: 'Zoë at Acme' }],
      businessPhones: ['+46 1'],
      mobilePhone: '+46 2',
      businessAddress: { city: 'Stockholm', street: 'Storgatan 1' },
      homeAddress: { city: 'Malmö' },
      categories: ['vip'],
    })
    const before = structuredClone(graph.contacts.get(user, id))
    const contact = await update(fixture, id, {
      surname: 'Berg',
      birthday: '--02-29',
      notes: 'Likes tea',
      categories: ['vip', 'team'],
      emails: [
        { email: 'ZOE@acme.test', type: 'work' },
        { email: 'new@acme.test', type: 'home' },
      ],
      phoneNumbers: [
        { number: '+46 2', type: 'mobile' },
        { number: '+46 3', type: '' },
      ],
      physicalAddresses: [{ type: 'work', streetAddress: '', city: 'Lund', postalCode: '', state: '', country: '' }],
    })
    expect(contact).toMatchObject({ displayName: 'Zoë Berg', birthday: '--02-29', categories: ['vip', 'team'] })
    expect(graph.contacts.get(user, id)).toEqual({
      ...before,
      displayName: 'Zoë Berg',
      surname: 'Berg',
      birthday: '1604-02-29T11:59:00Z',
      personalNotes: 'Likes tea',
      categories: ['vip', 'team'],
      emailAddresses: [
        { address: 'ZOE@acme.test', name: 'Zoë at Acme' },
        { address: 'new@acme.test', name: 'Zoë Berg' },
      ],
      businessPhones: ['+46 3'],
      businessAddress: { city: 'Lund' },
      homeAddress: {},
    })
    await update(fixture, id, { displayName: 'Z. B.' })
    expect(await update(fixture, id, { surname: 'Lund', birthday: null })).toMatchObject({
      displayName: 'Z. B.',
      surname: 'Lund',
      birthday: null,
    })
    const requests = graph.calls.total()
    await update(fixture, id, { surname: 'Lund', categories: ['vip', 'team'] })
    expect(graph.calls.total() - requests).toBe(1)
  })

  it('refuses what Outlook cannot store, with the field and what to do', async () => {
    const fixture = await open()
    const id = fixture.graph.contacts.put(fixture.user, { givenName: 'Zoë' })
    const of = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value)
    const home = { type: 'home', streetAddress: 'A', city: '', postalCode: '', state: '', country: '' }
    const cases: [Partial<ContactFields>, RegExp][] = [
      [{ emails: of(4, { email: 'a@b.test', type: '' }) }, /emails: Microsoft stores at most 3/],
      [{ phoneNumbers: of(3, { number: '1', type: 'work' }) }, /phoneNumbers: .* at most 2 of the type work/],
      [{ phoneNumbers: of(2, { number: '1', type: 'mobile' }) }, /phoneNumbers: .* at most 1 of the type mobile/],
      [{ phoneNumbers: [{ number: '1', type: 'constructor' }] }, /phoneNumbers: .*Use work, home or mobile/],
      [{ physicalAddresses: of(2, home) }, /physicalAddresses: .* at most 1 of the type home/],
      [{ physicalAddresses: [{ ...home, type: 'summer' }] }, /physicalAddresses: .*Use work, home or other/],
      [{ webPages: of(2, { url: 'https://a.test/', type: '' }) }, /webPages: .* at most 1/],
      [{ imAddresses: of(4, { imAddress: 'a', type: '' }) }, /imAddresses: .* at most 3/],
    ]
    for (const [changes, message] of cases) {
      await expect(update(fixture, id, changes)).rejects.toMatchObject({
        kind: 'rejected',
        unsupported: true,
        message: expect.stringMatching(message),
      })
    }
  })

  it('creates a contact once in the folder, and leaves one in the Deleted Items alone', async () => {
    const { graph, user, edits, account } = await open()
    const team = graph.contacts.addFolder(user, 'Team')
    const contact = { ...NO_FIELDS, givenName: 'Bob', emails: [{ email: 'bob@acme.test', type: 'work' }] }
    const request = { bookId: team, key: crypto.randomUUID(), contact, joinGroups: [], signal }
    graph.fail({ as: 'server-error', on: /POST .*contacts$/, executes: true })
    await expect(edits.createContact(request)).rejects.toMatchObject({ kind: 'unavailable' })
    const created = await edits.createContact(request)
    expect(created).toMatchObject({ displayName: 'Bob', emails: [{ email: 'bob@acme.test', type: '' }] })
    expect(graph.contacts.all(user)).toEqual([created.contactId])
    const target = { bookId: team, contactId: created.contactId }
    graph.contacts.remove(user, created.contactId)
    await expect(edits.getContact(target, signal)).rejects.toMatchObject({ kind: 'not_found' })
    await edits.deleteContact({ ...target, etag: null, signal })
    expect(graph.contacts.get(user, created.contactId)).toBeDefined()
    expect((await drainSteps(account.syncContacts({ bookId: team, cursor: null, signal }))).found).toEqual([])
  })
})
