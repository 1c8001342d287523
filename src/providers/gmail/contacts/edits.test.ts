import { describe, expect, it, onTestFinished } from 'vitest'

import { type GoogleContactsFixture, googleContacts } from '../../../../test/servers/google-contacts.ts'
import { NO_FIELDS } from '../../conformance/contacts.ts'
import type { ContactFields } from '../../contract/index.ts'

const { signal } = new AbortController()
const BOOK = 'contacts'

async function open(...args: Parameters<typeof googleContacts>): Promise<GoogleContactsFixture> {
  const fixture = await googleContacts(...args)
  onTestFinished(fixture.stop)
  return fixture
}

describe('changes of Google contacts', () => {
  const update = (
    { edits }: GoogleContactsFixture,
    contactId: string,
    changes: Partial<ContactFields>,
    more: { etag?: string | null; joinGroups?: string[]; leaveGroups?: string[] } = {},
  ) =>
    edits.updateContact({
      bookId: BOOK,
      contactId,
      changes,
      joinGroups: [],
      leaveGroups: [],
      etag: null,
      signal,
      ...more,
    })
  const lastMask = ({ google }: GoogleContactsFixture) =>
    new URLSearchParams(
      google.calls.all.findLast(({ path }) => path.includes(':updateContact'))?.path.split('?')[1],
    ).get('updatePersonFields')

  it('writes only the fields that change, and keeps what it does not show', async () => {
    const fixture = await open()
    const { google, user } = fixture
    const many = Array.from({ length: 103 }, (_, index) => ({ value: `+49 ${index}`, type: 'home' }))
    const id = google.people.put(user, {
      names: [{ givenName: 'Zoë', familyName: 'Åkesson', phoneticGivenName: 'So-ee' }],
      emailAddresses: [
        { value: 'zoe@acme.test', type: 'work', displayName: 'Zoë at Acme' },
        { value: 'zoe@home.test', type: 'home' },
      ],
      addresses: [
        { type: 'work', city: 'Stockholm', extendedAddress: 'Floor 3', formattedValue: 'Floor 3, Stockholm' },
      ],
      organizations: [
        { name: 'Old', endDate: { year: 2020 } },
        { name: 'Acme', current: true, symbol: 'ACME' },
      ],
      relations: [{ person: 'Ann', type: 'child' }],
      urls: [{ value: 'ftp://files.test', type: 'ftp' }],
      phoneNumbers: many,
      userDefined: [{ key: 'Shoe size', value: '39' }],
    })
    const before = structuredClone(google.people.get(user, id))
    await update(fixture, id, { surname: 'Berg', displayName: 'Zoë Åkesson', notes: '' })
    expect(lastMask(fixture)).toBe('names')
    expect(google.people.get(user, id)?.names).toMatchObject([{ familyName: 'Berg', phoneticGivenName: 'So-ee' }])
    const contact = await update(fixture, id, {
      emails: [
        { email: 'ZOE@acme.test', type: 'other' },
        { email: 'new@acme.test', type: 'workMobile' },
      ],
      physicalAddresses: [{ type: 'work', streetAddress: '', city: 'Malmö', postalCode: '', state: '', country: '' }],
      webPages: [{ url: 'https://zoe.test/', type: 'homepage' }],
      managerName: 'Bob',
      jobTitle: 'Engineer',
      phoneNumbers: [{ number: '+49 5', type: 'homeFax' }],
    })
    expect(contact).toMatchObject({ jobTitle: 'Engineer', managerName: 'Bob', companyName: 'Acme' })
    expect(google.people.get(user, id)).toEqual({
      ...before,
      names: [{ givenName: 'Zoë', familyName: 'Berg', phoneticGivenName: 'So-ee' }],
      emailAddresses: [
        { value: 'ZOE@acme.test', type: 'other', displayName: 'Zoë at Acme' },
        { value: 'new@acme.test', type: 'workMobile' },
      ],
      addresses: [{ type: 'work', city: 'Malmö', extendedAddress: 'Floor 3' }],
      organizations: [
        { name: 'Old', endDate: { year: 2020 } },
        { name: 'Acme', current: true, symbol: 'ACME', title: 'Engineer' },
      ],
      relations: [
        { person: 'Ann', type: 'child' },
        { person: 'Bob', type: 'manager' },
      ],
      urls: [
        { value: 'https://zoe.test/', type: 'homepage' },
        { value: 'ftp://files.test', type: 'ftp' },
      ],
      phoneNumbers: [{ value: '+49 5', type: 'homeFax' }, ...many.slice(100)],
    })
    const requests = google.calls.total()
    await update(fixture, id, { jobTitle: 'Engineer', emails: contact.emails })
    expect(google.calls.total() - requests).toBe(1)
    expect(await update(fixture, id, { birthday: '--02-29' })).toMatchObject({ birthday: '--02-29' })
    expect(await update(fixture, id, { birthday: null, companyName: '', jobTitle: '', managerName: '' })).toMatchObject(
      {
        birthday: null,
        companyName: '',
      },
    )
    expect(google.people.get(user, id)?.organizations).toEqual([
      { name: 'Old', endDate: { year: 2020 } },
      { current: true, symbol: 'ACME' },
    ])
  })

  it('divides a name that is one text, and refuses what Google cannot store with the field and what to do', async () => {
    const fixture = await open()
    const { google, user } = fixture
    const id = google.people.put(user, { organizations: [{ name: 'Acme' }] })
    expect(await update(fixture, id, { displayName: 'Acme Support' })).toMatchObject({
      givenName: 'Acme',
      surname: 'Support',
    })
    await expect(update(fixture, id, { displayName: 'Acme Help' })).rejects.toMatchObject({
      kind: 'rejected',
      unsupported: true,
      message: expect.stringMatching(/displayName.*Change givenName/),
    })
    await expect(update(fixture, id, { categories: ['vip'] })).rejects.toMatchObject({
      unsupported: true,
      message: expect.stringMatching(/categories.*groups/),
    })
  })

  it('joins and leaves groups, creates, renames and deletes them, and keeps a contact in one', async () => {
    const fixture = await open()
    const { google, user, edits, account } = fixture
    const groups = edits.groups
    if (groups === undefined) throw new Error('no groups')
    const id = google.people.put(user, { names: [{ givenName: 'Zoë' }] })
    const key = crypto.randomUUID()
    const team = await groups.createGroup({ name: 'Team', bookId: BOOK, key, signal })
    await expect(groups.createGroup({ name: 'team', bookId: BOOK, key, signal })).rejects.toMatchObject({
      kind: 'exists',
    })
    const joined = await update(fixture, id, {}, { joinGroups: [team.groupId, 'contactGroups/starred'] })
    expect(joined.groupIds.sort()).toEqual([team.groupId, 'contactGroups/myContacts', 'contactGroups/starred'].sort())
    expect(lastMask(fixture)).toBe('memberships')
    expect(await groups.renameGroup({ groupId: team.groupId, name: 'Crew', signal })).toMatchObject({ name: 'Crew' })
    const listed = await account.listGroups?.(signal)
    expect(listed).toContainEqual({ groupId: team.groupId, name: 'Crew', isWritable: true })
    expect(listed).toContainEqual({ groupId: 'contactGroups/myContacts', name: 'My Contacts', isWritable: false })
    expect(listed?.map(({ groupId }) => groupId)).not.toContain('contactGroups/all')
    await update(fixture, id, {}, { leaveGroups: ['contactGroups/starred', 'contactGroups/myContacts'] })
    await expect(update(fixture, id, {}, { leaveGroups: [team.groupId] })).rejects.toMatchObject({ unsupported: true })
    await update(fixture, id, {}, { joinGroups: ['contactGroups/myContacts'] })
    await groups.deleteGroup({ groupId: team.groupId, signal })
    await groups.deleteGroup({ groupId: team.groupId, signal })
    expect((await edits.getContact({ bookId: BOOK, contactId: id }, signal)).groupIds).toEqual([
      'contactGroups/myContacts',
    ])
    await expect(groups.renameGroup({ groupId: 'contactGroups/../x', name: 'X', signal })).rejects.toMatchObject({
      kind: 'not_found',
    })
  })

  it('sends the changes of a user one after the other, repeats one that met another program, and creates once', async () => {
    const fixture = await open()
    const { google, user, edits } = fixture
    const ids = Array.from({ length: 6 }, () => google.people.put(user, { names: [{ givenName: 'Zoë' }] }))
    google.fail({ as: 'aborted', on: /:updateContact/ })
    await Promise.all(ids.map((id) => update(fixture, id, { nickname: 'Zo' })))
    expect(ids.map((id) => google.people.get(user, id)?.nicknames?.[0]?.value)).toEqual(ids.map(() => 'Zo'))
    expect(google.calls.all.filter(({ status }) => status === 409)).toHaveLength(1)
    const contact = { ...NO_FIELDS, displayName: 'Bob', emails: [{ email: 'bob@acme.test', type: 'work' }] }
    const request = { bookId: BOOK, key: crypto.randomUUID(), contact, joinGroups: ['contactGroups/starred'], signal }
    google.fail({ as: 'unavailable', on: /:createContact/, executes: true })
    await expect(edits.createContact(request)).rejects.toMatchObject({ kind: 'unavailable' })
    const created = await edits.createContact(request)
    expect(created).toMatchObject({
      displayName: 'Bob',
      groupIds: ['contactGroups/myContacts', 'contactGroups/starred'],
    })
    expect(google.people.all(user)).toHaveLength(ids.length + 1)
  })
})
