import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../test/kit/eventually.ts'
import { api as httpClient } from '../../test/kit/http/http.ts'
import { type Service, startService } from '../../test/kit/service/service.ts'
import { client } from '../../test/scenarios/client.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../test/servers/dovecot.ts'
import { type Radicale, radicaleAvailable, startRadicale } from '../../test/servers/radicale.ts'
import { vcard } from '../../test/servers/vcards.ts'
import { JPEG } from '../providers/conformance/contacts.ts'

const USER = 'ada@posthorn.test'
const PASSWORD = 'correct horse'

interface Contact {
  id: string
  displayName: string
  version: number
  groups: { id: string; name: string }[]
}

describe.skipIf(!dovecotAvailable() || !radicaleAvailable())('the contacts of an imap account', () => {
  let mailServer: Dovecot
  let contactServer: Radicale
  let service: Service
  let api: ReturnType<typeof client>
  let id: string
  let book: string
  const put = (name: string, fields: Parameters<typeof vcard>[1], lines: string[] = [], path = book) =>
    contactServer.request(USER, 'PUT', `${path}${name}.vcf`, vcard(name, fields, lines))
  const list = async (query = '') => {
    const page = await api.call<{ contacts: Contact[]; pagination: object; syncedAt: string | null }>(
      'GET',
      `/accounts/${id}/contacts${query}`,
    )
    return { ...page, names: page.contacts.map(({ displayName }) => displayName) }
  }
  const events = async (type: string) => {
    const { events } = await api.call<{ events: { data: Contact }[] }>(
      'GET',
      `/events?accountId=${id}&type=contact.${type}&limit=200&order=asc`,
    )
    return events.map(({ data }) => data)
  }
  const sync = () => api.call('POST', `/accounts/${id}/sync`)

  beforeAll(async () => {
    ;[mailServer, contactServer] = await Promise.all([startDovecot(), startRadicale()])
    await Promise.all([mailServer.addUser(USER, PASSWORD), contactServer.addUser(USER, PASSWORD)])
    book = await contactServer.makeBook(USER, 'people')
    await put('zoe', {
      displayName: 'Zoë Åkesson',
      givenName: 'Zoë',
      surname: 'Åkesson',
      companyName: 'Acme',
      emails: [{ email: 'Zoe@Acme.example', type: 'work' }],
      phoneNumbers: [{ number: '+46 (8) 123-456', type: 'mobile' }],
      categories: ['Friends', 'Work'],
    })
    await put('bob', { displayName: 'Bob Berg', givenName: 'Bob', surname: 'Berg', categories: ['Work'] })
    await contactServer.request(USER, 'PUT', `${book}team.vcf`, group('Team', ['zoe', 'nobody']))
    service = await startService({ environment: { CONTACTS_ENABLED: 'true' } })
    api = client(service.url, service.key)
    const account = await api.call<{ id: string }>('POST', '/accounts', {
      provider: 'imap',
      email: USER,
      username: USER,
      password: PASSWORD,
      host: mailServer.host,
      port: mailServer.imapsPort,
      secure: true,
      allowSelfSigned: true,
      caldavUrl: contactServer.url,
    })
    id = account.id
    await eventually(async () => expect((await list()).syncedAt).not.toBeNull())
  })
  afterAll(async () => {
    await service?.stop()
    await Promise.all([mailServer?.stop(), contactServer?.stop()])
  })

  it('are read in the first sync without an event, with their groups', async () => {
    const { contacts, pagination } = await list()
    expect(contacts).toMatchObject([
      {
        displayName: 'Zoë Åkesson',
        source: 'address_book',
        provider: 'imap',
        emails: [{ email: 'Zoe@Acme.example', type: 'work' }],
        phoneNumbers: [{ number: '+46 (8) 123-456', type: 'mobile' }],
        groups: [{ name: 'Friends' }, { name: 'Team' }, { name: 'Work' }],
        photoUrl: null,
        version: 1,
      },
      { displayName: 'Bob Berg', groups: [{ name: 'Work' }] },
    ])
    expect(pagination).toMatchObject({ total: 2, hasNext: false })
    expect(await api.call('GET', `/accounts/${id}/contacts/${contacts[0]?.id}`)).toEqual(contacts[0])
    expect([await events('created'), await events('updated')]).toEqual([[], []])
    expect(await api.call('GET', `/accounts/${id}/address-books`)).toMatchObject({
      addressBooks: [{ name: 'people', providerId: book, writable: true, default: true, contacts: 2, failure: null }],
    })
    const { groups } = await api.call<{ groups: object[] }>('GET', `/accounts/${id}/contact-groups`)
    expect(groups).toMatchObject([
      { name: 'Friends', kind: 'category', memberCount: 1 },
      { name: 'Team', kind: 'object', memberCount: 2 },
      { name: 'Work', kind: 'category', memberCount: 2, writable: false },
    ])
    const path = `/accounts/${id}/contact-groups`
    await expect(api.call('POST', path, { name: 'New' })).rejects.toThrow(/409 .*not_supported.*A category exists/)
  })

  it('are found by words, address, number, group and address book', async () => {
    const { groups } = await api.call<{ groups: { id: string }[] }>('GET', `/accounts/${id}/contact-groups`)
    const found = await Promise.all(
      [
        '?q=zoe%20ACM',
        '?q=akesson',
        '?q=100%25',
        '?email=ZOE@acme.EXAMPLE',
        '?email=zoe@acme',
        '?phone=0046%208%20123456',
        `?group=${groups[0]?.id}`,
        `?group=${groups[2]?.id}`,
        `?addressBookId=${encodeURIComponent(book)}`,
        '?limit=1',
        '?limit=1&page=2',
      ].map(async (query) => (await list(query)).names),
    )
    const [zoe, bob] = ['Zoë Åkesson', 'Bob Berg']
    expect(found).toEqual([[zoe], [zoe], [], [zoe], [], [zoe], [zoe], [zoe, bob], [zoe, bob], [zoe], [bob]])
    const { pagination } = await list('?limit=1')
    const cursor = (pagination as { nextCursor: string }).nextCursor
    expect((await list(`?limit=1&cursor=${cursor}`)).names).toEqual([bob])
  })

  it('announce what is created, changed and deleted, and who joins or leaves a group', async () => {
    const [zoe] = (await list('?q=zoe')).contacts
    await put('bob', { displayName: 'Bob Berg', givenName: 'Bob', surname: 'Berg', jobTitle: 'Buyer' })
    await put('eve', { displayName: 'Eve', emails: [{ email: 'eve@acme.example', type: 'home' }] })
    await contactServer.request(USER, 'PUT', `${book}team.vcf`, group('Team', ['bob']))
    await sync()
    await eventually(async () => expect((await events('updated')).length).toBeGreaterThanOrEqual(3))
    expect(await events('created')).toMatchObject([{ displayName: 'Eve', version: 1 }])
    expect((await list('?email=eve@acme.example')).names).toEqual(['Eve'])
    const updated = await events('updated')
    expect(updated).toHaveLength(3)
    expect(updated).toContainEqual(expect.objectContaining({ id: zoe?.id, version: 2 }))
    const [bob] = (await list('?q=bob')).contacts
    expect(bob).toMatchObject({ version: 3, jobTitle: 'Buyer', groups: [{ name: 'Team' }] })
    expect((await list('?q=zoe')).contacts[0]?.groups.map(({ name }) => name)).toEqual(['Friends', 'Work'])
    await contactServer.request(USER, 'DELETE', `${book}eve.vcf`)
    await contactServer.request(USER, 'DELETE', `${book}team.vcf`)
    await sync()
    await eventually(async () => expect(await events('deleted')).toMatchObject([{ displayName: 'Eve', version: 2 }]))
    await eventually(async () => expect((await list('?q=bob')).contacts[0]?.groups).toEqual([]))
    expect((await list()).pagination).toMatchObject({ total: 2 })
  })

  it('become groups and contacts again when another program changes the kind of the object', async () => {
    const kinds = async (name: string) => {
      const path = `/accounts/${id}/contact-groups`
      const { groups } = await api.call<{ groups: { name: string; kind: string }[] }>('GET', path)
      return groups.filter((each) => each.name === name).map(({ kind }) => kind)
    }
    const announced = async (type: string) =>
      (await events(type)).filter(({ displayName }) => displayName === 'Sales').map(({ version }) => version)
    const groupsOfBob = async () => (await list('?q=bob')).contacts[0]?.groups.map(({ name }) => name)
    await put('sales', { displayName: 'Sales', categories: ['Friends'] })
    await sync()
    await eventually(async () => expect((await list('?q=sales')).names).toEqual(['Sales']))
    const path = `/accounts/${id}/contacts/${(await list('?q=sales')).contacts[0]?.id}`

    await contactServer.request(USER, 'PUT', `${book}sales.vcf`, group('Sales', ['bob'], 'sales'))
    // Nothing of the change may reach the group.
    await expect(api.call('PATCH', path, { jobTitle: 'Pilot' })).rejects.toThrow(/404/)
    expect(await contactServer.request(USER, 'GET', `${book}sales.vcf`)).not.toContain('Pilot')
    await sync()
    await eventually(async () => expect(await groupsOfBob()).toEqual(['Sales']))
    expect([(await list('?q=sales')).names, await kinds('Sales')]).toEqual([[], ['object']])
    await expect(api.call('GET', path)).rejects.toThrow(/404/)
    expect([await announced('created'), await announced('deleted')]).toEqual([[1], [2]])

    await put('sales', { displayName: 'Sales' })
    await sync()
    await eventually(async () => expect((await list('?q=sales')).names).toEqual(['Sales']))
    await eventually(async () => expect([await groupsOfBob(), await kinds('Sales')]).toEqual([[], []]))
    expect([await announced('created'), await announced('deleted')]).toEqual([[1, 1], [2]])
    expect((await list()).pagination).toMatchObject({ total: 3 })
    await contactServer.request(USER, 'DELETE', `${book}sales.vcf`)
    await sync()
    await eventually(async () => expect((await list()).pagination).toMatchObject({ total: 2 }))
  })

  it('are created, changed and deleted at the server, once each, under the version that a caller has', async () => {
    const url = `/accounts/${id}/contacts`
    const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
      httpClient(service.url, service.key).request(method, path, { headers, ...(body !== undefined && { body }) })
    const { json: created } = await send(
      'POST',
      url,
      {
        givenName: 'Ivy',
        surname: 'Iverson',
        birthday: '--02-29',
        emails: [{ email: 'ivy@acme.example', type: 'work' }],
        groups: [{ name: 'Friends' }],
      },
      { 'idempotency-key': 'ivy' },
    )
    expect(created).toMatchObject({ displayName: 'Ivy Iverson', version: 1, groups: [{ name: 'Friends' }] })
    const path = `${url}/${created.id}`
    const remote = created.providerContactId
    const text = await contactServer.request(USER, 'GET', remote)
    await contactServer.request(USER, 'PUT', remote, text.replace('END:VCARD', 'X-OTHER;A=b:kept\r\nEND:VCARD'))
    const { json: updated } = await send('PATCH', path, { jobTitle: 'Pilot', emails: [], groups: [] })
    expect(updated).toMatchObject({ jobTitle: 'Pilot', emails: [], birthday: '--02-29', groups: [] })
    expect(await contactServer.request(USER, 'GET', remote)).toContain('X-OTHER;A=b:kept')
    const stale = await send('PATCH', path, { jobTitle: 'Cook' }, { 'if-match': '"1"' })
    expect([stale.status, stale.json.error]).toMatchObject([409, { code: 'conflict', current: { jobTitle: 'Pilot' } }])
    const current = { 'if-match': String(updated.version) }
    const changed = await contactServer.request(USER, 'GET', remote)
    await contactServer.request(USER, 'PUT', remote, changed.replace('TITLE:Pilot', 'TITLE:Captain'))
    expect((await send('PATCH', path, { jobTitle: 'Cook' }, current)).status).toBe(409)
    for (const [body, field] of [
      [{ birthday: '1985-02-30' }, 'body.birthday'],
      [{ groups: [{}] }, 'body.groups.0'],
      [{ groups: [{ id: 'cgr_unknown' }] }, 'body.groups.0.id'],
      [{ webPages: [{ url: 'javascript:alert(1)' }] }, 'body.webPages.0.url'],
    ] as const) {
      const refused = await send('PATCH', path, body)
      expect([refused.status, refused.json.error.details[0]?.path]).toEqual([400, field])
    }
    await eventually(async () => expect((await list('?q=ivy')).contacts[0]).toMatchObject({ jobTitle: 'Captain' }))
    expect((await send('DELETE', path)).status).toBe(200)
    expect((await send('GET', path)).status).toBe(404)
    await expect(contactServer.request(USER, 'GET', remote)).rejects.toThrow('404')
    await sync()
    const ivys = (all: Contact[]) => all.filter(({ id: contactId }) => contactId === created.id)
    expect([ivys(await events('created')).length, ivys(await events('deleted')).length]).toEqual([1, 1])
  })

  it('have photos, but only those that are images', async () => {
    const photo = (bytes: Uint8Array) => `PHOTO;ENCODING=b;TYPE=JPEG:${Buffer.from(bytes).toString('base64')}`
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    await put('pic', { displayName: 'Pia Picture' }, [photo(JPEG)])
    await put('svg', { displayName: 'Sven Svg' }, [photo(svg)])
    await put('big', { displayName: 'Bea Big' }, [photo(Buffer.concat([JPEG, Buffer.alloc(5_300_000)]))])
    await sync()
    await eventually(async () => expect((await list('?q=bea')).names).toEqual(['Bea Big']))
    const read = async (q: string) => {
      const [contact] = (await list(`?q=${q}`)).contacts
      return fetch(`${service.url}/accounts/${id}/contacts/${contact?.id}/photo`, {
        headers: { authorization: `Bearer ${service.key}` },
      })
    }
    const response = await read('pia')
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(JPEG))).toBe(true)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    })
    expect([(await read('sven')).status, (await read('bea')).status, (await read('zoe')).status]).toEqual([
      404, 502, 404,
    ])
    for (const name of ['pic', 'svg', 'big']) await contactServer.request(USER, 'DELETE', `${book}${name}.vcf`)
    await sync()
    await eventually(async () => expect((await list('?q=bea')).names).toEqual([]))
  })

  it('that cannot be read are counted, and an address book that is deleted takes its contacts with it', async () => {
    const other = await contactServer.makeBook(USER, 'another')
    await put('gone', { displayName: 'Gus Gone', surname: 'Gone' }, [], other)
    await put(
      'huge',
      { displayName: 'Huge' },
      Array.from({ length: 30_000 }, (_, at) => `X-${at}:1`),
      other,
    )
    await sync()
    await eventually(async () => expect((await list('?q=gone')).names).toEqual(['Gus Gone']))
    await eventually(async () =>
      expect(await api.call('GET', `/accounts/${id}/address-books`)).toMatchObject({
        addressBooks: [
          { name: 'people', unreadable: { count: 0 } },
          {
            name: 'another',
            contacts: 1,
            unreadable: {
              count: 1,
              contacts: [{ providerContactId: `${other}huge.vcf`, reason: 'The vCard has more than 20,000 lines.' }],
            },
          },
        ],
      }),
    )
    await contactServer.request(USER, 'DELETE', other)
    await sync()
    await eventually(async () => expect((await list('?q=gone')).names).toEqual([]))
    await eventually(async () => expect((await events('deleted')).at(-1)).toMatchObject({ displayName: 'Gus Gone' }))
  })
})

/** As Apple writes a group in vCard 3.0. */
function group(name: string, uids: readonly string[], uid = `group-${name}`): string {
  const members = uids.map((uid) => `X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:${uid}`)
  return vcard(uid, { displayName: name }, ['X-ADDRESSBOOKSERVER-KIND:group', ...members])
}
