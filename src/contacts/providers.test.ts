import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../test/kit/eventually.ts'
import { api as httpClient } from '../../test/kit/http/http.ts'
import { type Service, startService } from '../../test/kit/service/service.ts'
import { client } from '../../test/scenarios/client.ts'
import { CONTACTS_SCOPES, GOOGLE_SCOPES, type Google, startGoogle } from '../../test/servers/google.ts'
import {
  MICROSOFT_SCOPES,
  type Microsoft,
  OUTLOOK_CONTACTS_SCOPES,
  startMicrosoft,
} from '../../test/servers/microsoft.ts'
import { JPEG as PIXEL } from '../providers/conformance/contacts.ts'

const JPEG = Buffer.from(PIXEL)
const ANN = 'ann@gmail.test'
const ADA = 'ada@outlook.test'
const BEN = 'ben@gmail.test'
const [MANY_GMAIL, MANY_OUTLOOK] = ['many@gmail.test', 'many@outlook.test']

interface Contact {
  id: string
  displayName: string
  providerContactId: string
  photoUrl: string | null
  emails: object[]
  groups: { name: string }[]
}

describe('the contacts of gmail and microsoft accounts', () => {
  let google: Google
  let graph: Microsoft
  let service: Service
  let api: ReturnType<typeof client>
  const accounts: Record<string, string> = {}
  const warnings: string[] = []

  /** Connects the account of a user, or connects it again. */
  async function connect(provider: 'gmail' | 'microsoft', email: string, scopes: string[]): Promise<void> {
    const fake = provider === 'gmail' ? google : graph
    const { refreshToken } = await fake.grant(email, scopes)
    const { id } = await api.call<{ id: string }>('POST', '/accounts', { provider, email, refreshToken })
    accounts[email] = id
  }
  const list = (email: string) =>
    api.call<{ contacts: Contact[]; syncedAt: string | null }>('GET', `/accounts/${accounts[email]}/contacts`)
  const names = async (email: string) => (await list(email)).contacts.map(({ displayName }) => displayName)
  const sync = (email: string) => api.call('POST', `/accounts/${accounts[email]}/sync`)
  async function events(email: string): Promise<string[]> {
    const path = `/events?accountId=${accounts[email]}&limit=200&order=asc`
    const { events } = await api.call<{ events: { type: string; data: Contact }[] }>('GET', path)
    return events
      .filter(({ type }) => type.startsWith('contact.'))
      .map(({ type, data }) => `${type} ${data.displayName}`)
  }
  const create = (email: string, contact: object) =>
    api.call<Contact>('POST', `/accounts/${accounts[email]}/contacts`, contact)
  async function groupId(email: string, name: string): Promise<string | undefined> {
    const path = `/accounts/${accounts[email]}/contact-groups`
    const { groups } = await api.call<{ groups: { id: string; name: string }[] }>('GET', path)
    return groups.find((group) => group.name === name)?.id
  }
  async function photo(path: string): Promise<{ status: number; bytes: Buffer }> {
    const headers = { authorization: `Bearer ${service.key}` }
    const response = await fetch(`${service.url}${path}/photo`, { headers })
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const status = async (email: string) =>
    (await api.call<{ status: string }>('GET', `/accounts/${accounts[email]}`)).status

  beforeAll(async () => {
    ;[google, graph] = await Promise.all([startGoogle(), startMicrosoft()])
    for (const user of [ANN, BEN, MANY_GMAIL]) google.addUser(user)
    for (const user of [ADA, MANY_OUTLOOK]) graph.addUser(user)
    const environment = { ...google.settings, ...graph.settings, CONTACTS_ENABLED: 'true', LOG_LEVEL: 'warn' }
    service = await startService({ environment, output: (entry) => void warnings.push(JSON.stringify(entry)) })
    api = client(service.url, service.key)
  })
  afterAll(async () => {
    await service?.stop()
    await Promise.all([google?.close(), graph?.close()])
  })

  it('are read, changed and announced once, also when Google forgets its sync tokens', async () => {
    const team = google.people.addGroup(ANN, 'Team')
    const memberships = ['contactGroups/myContacts', team].map((contactGroupResourceName) => ({
      contactGroupMembership: { contactGroupResourceName },
    }))
    const zoe = google.people.put(ANN, { names: [{ givenName: 'Zoë' }], memberships })
    google.people.put(ANN, { organizations: [{ name: 'Acme' }], emailAddresses: [{ value: 'info@acme.test' }] })
    await connect('gmail', ANN, [...GOOGLE_SCOPES, ...CONTACTS_SCOPES])
    await eventually(async () => expect((await list(ANN)).syncedAt).not.toBeNull())
    expect((await names(ANN)).sort()).toEqual(['Acme', 'Zoë'])
    const { contacts } = await list(ANN)
    const groups = contacts.find(({ displayName }) => displayName === 'Zoë')?.groups
    expect(groups?.map(({ name }) => name).sort()).toEqual(['My Contacts', 'Team'])
    expect(await events(ANN)).toEqual([])

    const bob = google.people.put(ANN, { names: [{ givenName: 'Bob' }] })
    google.people.put(ANN, { names: [{ givenName: 'Zoë', familyName: 'Berg' }] }, zoe)
    await sync(ANN)
    const changes = ['contact.created Bob', 'contact.updated Zoë Berg']
    await eventually(async () => expect((await events(ANN)).sort()).toEqual(changes))

    google.people.remove(ANN, bob)
    google.people.expireSyncTokens(ANN)
    await sync(ANN)
    await eventually(async () => expect(await events(ANN)).toContain('contact.deleted Bob'))
    google.people.put(ANN, { names: [{ givenName: 'Last' }] })
    await sync(ANN)
    await eventually(async () => expect(await events(ANN)).toContain('contact.created Last'))
    expect((await events(ANN)).sort()).toEqual([...changes, 'contact.deleted Bob', 'contact.created Last'].sort())
    expect((await names(ANN)).sort()).toEqual(['Acme', 'Last', 'Zoë Berg'])
  })

  it('of Microsoft are in folders and categories, also when Graph forgets its cursors', async () => {
    const customers = graph.contacts.addFolder(ADA, 'Customers')
    const zoe = graph.contacts.put(ADA, { displayName: 'Zoë', categories: ['VIP'] })
    const bob = graph.contacts.put(ADA, { displayName: 'Bob' }, { folder: customers })
    await connect('microsoft', ADA, [...MICROSOFT_SCOPES, ...OUTLOOK_CONTACTS_SCOPES])
    await eventually(async () => expect((await list(ADA)).syncedAt).not.toBeNull())
    expect(
      (await list(ADA)).contacts
        .map(({ displayName, groups }) => [displayName, ...groups.map(({ name }) => name)])
        .sort(),
    ).toEqual([['Bob'], ['Zoë', 'VIP']])
    graph.contacts.remove(ADA, bob)
    graph.contacts.expireDelta(ADA)
    graph.contacts.put(ADA, { displayName: 'Zoë Berg' }, { id: zoe })
    await sync(ADA)
    await eventually(async () =>
      expect((await events(ADA)).sort()).toEqual(['contact.deleted Bob', 'contact.updated Zoë Berg']),
    )
    graph.contacts.removeFolder(ADA, customers)
    await sync(ADA)
    const books = () =>
      api.call<{ addressBooks: { name: string }[] }>('GET', `/accounts/${accounts[ADA]}/address-books`)
    await eventually(async () => expect((await books()).addressBooks.map(({ name }) => name)).toEqual(['Contacts']))
  })

  it('are all read over several pages, while the providers limit the rate', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `Contact ${String(index).padStart(3, '0')}`)
    for (const name of names) {
      google.people.put(MANY_GMAIL, { names: [{ givenName: name }] })
      graph.contacts.put(MANY_OUTLOOK, { displayName: name })
    }
    google.fail({ as: 'rate-limited', user: MANY_GMAIL, on: /people\/me\/connections/, times: 2, retryAfter: 1 })
    graph.fail({ as: 'rate-limited', user: MANY_OUTLOOK, on: /contacts\/delta/, times: 2, retryAfter: 1 })
    await connect('gmail', MANY_GMAIL, [...GOOGLE_SCOPES, ...CONTACTS_SCOPES])
    await connect('microsoft', MANY_OUTLOOK, [...MICROSOFT_SCOPES, ...OUTLOOK_CONTACTS_SCOPES])
    for (const email of [MANY_GMAIL, MANY_OUTLOOK]) {
      await eventually(async () => expect((await list(email)).syncedAt).not.toBeNull())
      const path = `/accounts/${accounts[email]}/contacts?limit=200`
      const pages = [1, 2].map((page) => api.call<{ contacts: Contact[] }>('GET', `${path}&page=${page}`))
      const stored = (await Promise.all(pages)).flatMap(({ contacts }) => contacts)
      expect(stored.map(({ displayName }) => displayName).sort()).toEqual(names)
      expect(await events(email)).toEqual([])
      expect(await status(email)).toBe('connected')
      // A limit is waited for: it is no failure of the address book.
      expect(warnings.filter((entry) => entry.includes(`${accounts[email]}`))).toEqual([])
    }
    expect([google.faults.waiting, graph.faults.waiting]).toEqual([0, 0])
  })

  it('are changed through the API, announced once, and have photos', async () => {
    const labelled = await create(ANN, {
      givenName: 'Ida',
      surname: 'Holm',
      groups: [{ id: await groupId(ANN, 'Team') }],
    })
    expect(labelled.groups.map(({ name }) => name).sort()).toEqual(['My Contacts', 'Team'])
    const outlook = await create(ADA, { displayName: 'Ida Holm', groups: [{ name: 'VIP' }] })
    expect(graph.contacts.get(ADA, outlook.providerContactId)?.categories).toEqual(['VIP'])
    for (const [email, contact] of [
      [ANN, labelled],
      [ADA, outlook],
    ] as const) {
      const path = `/accounts/${accounts[email]}/contacts/${contact.id}`
      const before = await events(email)
      expect(await api.call('PATCH', path, { jobTitle: 'Engineer' })).toMatchObject({ jobTitle: 'Engineer' })
      await expect(photo(path)).resolves.toMatchObject({ status: 404 })
      if (email === ANN) google.people.setPhoto(ANN, contact.providerContactId, JPEG)
      else graph.contacts.setPhoto(ADA, contact.providerContactId, JPEG)
      await sync(email)
      await eventually(async () => expect((await photo(path)).bytes.equals(JPEG)).toBe(true))
      await api.call('DELETE', path)
      await sync(email)
      await eventually(async () => expect(await events(email)).toContain('contact.deleted Ida Holm'))
      const after = (await events(email)).slice(before.length)
      expect(after.filter((event) => event.startsWith('contact.deleted'))).toHaveLength(1)
      expect(after.filter((event) => event.startsWith('contact.created'))).toEqual([])
    }
    const emails = Array.from({ length: 4 }, (_, index) => ({ email: `a${index}@b.test`, type: 'work' }))
    await expect(create(ADA, { displayName: 'Too many', emails })).rejects.toThrow(
      /409 .*not_supported.*emails.*at most 3/,
    )
  })

  it('of Google are in groups that the API creates, renames and deletes; other providers have none', async () => {
    const path = `/accounts/${accounts[ANN]}/contact-groups`
    const send = (method: string, url: string, body?: object, headers: Record<string, string> = {}) =>
      httpClient(service.url, service.key).request(method, url, { headers, ...(body !== undefined && { body }) })
    const key = { 'idempotency-key': 'suppliers' }
    const body = { name: ' Key  suppliers ' }
    const [first, second] = [await send('POST', path, body, key), await send('POST', path, body, key)]
    const { json: group } = first
    expect(group).toMatchObject({ name: 'Key suppliers', kind: 'listed', memberCount: 0, writable: true })
    expect(second.json).toEqual(group)
    expect(google.people.groups(ANN).filter(({ name }) => name === 'Key suppliers')).toHaveLength(1)
    const contact = await create(ANN, { givenName: 'Ivo', groups: [{ id: group.id }] })
    expect(contact.groups.map(({ name }) => name).sort()).toEqual(['Key suppliers', 'My Contacts'])

    const renamed = await send('PATCH', `${path}/${group.id}`, { name: 'Partners' })
    expect(renamed.json).toEqual({ ...group, name: 'Partners', memberCount: 1, updatedAt: expect.any(String) })
    expect(google.people.groups(ANN)).toContainEqual(expect.objectContaining({ name: 'Partners' }))
    expect((await send('POST', path, { name: 'partners' })).json.error).toMatchObject({
      code: 'conflict',
      message: 'The group "partners" exists already.',
    })
    for (const name of ['', ' \n ', 'x'.repeat(201)]) {
      const refused = await send('PATCH', `${path}/${group.id}`, { name })
      expect([refused.status, refused.json.error.details[0]?.path]).toEqual([400, 'body.name'])
    }
    const system = `${path}/${await groupId(ANN, 'My Contacts')}`
    for (const response of [await send('PATCH', system, { name: 'Mine' }), await send('DELETE', system)]) {
      expect([response.status, response.json.error]).toMatchObject([
        409,
        { code: 'not_supported', message: expect.stringContaining('manages the group "My Contacts"') },
      ])
    }
    expect((await send('DELETE', `${path}/cgr_unknown`)).status).toBe(404)
    expect(await send('DELETE', `${path}/${group.id}`)).toMatchObject({ status: 200 })
    expect(await groupId(ANN, 'Partners')).toBeUndefined()
    expect(google.people.groups(ANN).map(({ name }) => name)).not.toContain('Partners')
    const shown = await api.call<Contact>('GET', `/accounts/${accounts[ANN]}/contacts/${contact.id}`)
    expect(shown.groups.map(({ name }) => name)).toEqual(['My Contacts'])
    await eventually(async () => expect(await events(ANN)).toContain('contact.updated Ivo'))
    expect(await groupId(ANN, 'Partners')).toBeUndefined()

    const categories = `/accounts/${accounts[ADA]}/contact-groups`
    for (const response of [
      await send('POST', categories, { name: 'Partners' }),
      await send('PATCH', `${categories}/cgr_unknown`, { name: 'Partners' }),
      await send('DELETE', `${categories}/cgr_unknown`),
    ]) {
      expect([response.status, response.json.error]).toMatchObject([
        409,
        { code: 'not_supported', message: expect.stringContaining('A category exists as long as a contact has it') },
      ])
    }
  })

  it('need a scope, without which mail goes on, and which another sign-in grants', async () => {
    google.people.put(BEN, { names: [{ givenName: 'Zoë' }] })
    await connect('gmail', BEN, GOOGLE_SCOPES)
    await eventually(async () => expect(await status(BEN)).toBe('connected'))
    await expect(list(BEN)).rejects.toThrow(/409 .*consent_required.*auth\/contacts/)
    expect(google.calls.all.some(({ user, endpoint }) => user === BEN && endpoint.includes('/v1/people'))).toBe(false)
    await connect('gmail', BEN, [...GOOGLE_SCOPES, ...CONTACTS_SCOPES])
    await eventually(async () => expect(await names(BEN)).toEqual(['Zoë']))
    // Google still names the scope with the token, and no longer accepts it.
    google.fail({ as: 'missing-scope', user: BEN, on: /\/v1\/(people|contactGroups)/, times: 3 })
    await sync(BEN)
    await eventually(async () => expect(google.faults.waiting).toBeLessThan(3))
    google.faults.clear()
    google.deliver(BEN, 'Subject: still there\r\n\r\nHello')
    await sync(BEN)
    await eventually(async () => expect(await status(BEN)).toBe('connected'))
    expect(await names(BEN)).toEqual(['Zoë'])
  })
})
