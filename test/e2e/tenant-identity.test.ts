import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeOneDatabase, type Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { moveTo, rotateKeys } from '../kit/service/move.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { type Google, startGoogle } from '../servers/google.ts'
import { plainMail } from '../servers/messages.ts'
import { type Microsoft, startMicrosoft } from '../servers/microsoft.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const [ADA, NEW_ADA, SUCCESSOR, ADMIN] = [
  'ada@acme.example',
  'ada.lovelace@acme.example',
  'successor@acme.example',
  'root@acme.example',
]
const MAILBOX_ROLES = ['Mail.ReadWrite', 'Mail.Send', 'Calendars.ReadWrite']
const MAILBOX_SCOPES = ['gmail.modify', 'calendar.events', 'calendar.readonly']

describeOneDatabase('an account of a tenant', 'sqlite', (open) => {
  let microsoft: Microsoft
  let google: Google
  let place: Place
  let service: Service
  let client: Api
  beforeEach(async () => {
    microsoft = await startMicrosoft()
    google = await startGoogle()
    for (const user of [ADA, SUCCESSOR]) microsoft.addUser(user, { tenant: TENANT })
    for (const user of [ADA, SUCCESSOR, ADMIN]) google.addUser(user)
    await microsoft.deliver(ADA, plainMail({ subject: 'For Ada' }))
    await microsoft.deliver(SUCCESSOR, plainMail({ subject: 'For the successor' }))
    google.deliver(ADA, plainMail({ subject: 'For Ada' }))
    google.deliver(SUCCESSOR, plainMail({ subject: 'For the successor' }))
    place = await open.place()
    await serve()
  })
  afterEach(async () => {
    await service.stop()
    await microsoft.close()
    await google.close()
  })

  async function serve(environment: Record<string, string> = {}): Promise<void> {
    const { MICROSOFT_LOGIN_URL = '', MICROSOFT_GRAPH_URL = '' } = microsoft.settings
    const { GOOGLE_TOKEN_URL = '', GOOGLE_API_URL = '' } = google.settings
    const providers = { MICROSOFT_LOGIN_URL, MICROSOFT_GRAPH_URL, GOOGLE_TOKEN_URL, GOOGLE_API_URL }
    service = await startService({ place, environment: { ...providers, ...environment } })
    client = api(service.url, service.key)
  }

  async function connectMicrosoft(): Promise<string> {
    const { id: clientId } = microsoft.client
    const credentials = { tenantId: TENANT, clientId, clientSecret: 'tenant-secret' }
    return (await client.post('/connections', { provider: 'microsoft', kind: 'tenant', name: 'Acme', ...credentials }))
      .json.id
  }
  async function connectGoogle(): Promise<string> {
    const credentials = { serviceAccountKey: google.delegation.keyFile(), adminEmail: ADMIN }
    return (await client.post('/connections', { provider: 'gmail', kind: 'tenant', name: 'Acme', ...credentials })).json
      .id
  }
  async function connect(connectionId: string, email: string): Promise<string> {
    const created = await client.post('/accounts', { connectionId, email })
    expect([created.status, created.text]).toEqual([200, expect.any(String)])
    await eventually(async () =>
      expect((await client.get(`/accounts/${created.json.id}`)).json).toMatchObject({ status: 'connected', email }),
    )
    return created.json.id
  }
  const subjects = async (id: string): Promise<string[]> =>
    (await client.get(`/accounts/${id}/messages`)).json.messages.map(({ subject }: { subject: string }) => subject)
  /** One request only: the next one would end the error and try again. */
  async function expectLost(id: string, reason: string): Promise<void> {
    await client.post(`/accounts/${id}/sync`)
    await eventually(async () =>
      expect((await client.get(`/accounts/${id}`)).json).toMatchObject({
        status: 'auth_error',
        statusReason: expect.stringContaining(reason),
      }),
    )
  }
  /** Ada's address changes, and somebody else gets the old one. */
  function passOn({ addresses }: Microsoft['applications'] | Google['delegation']): void {
    addresses.rename(ADA, NEW_ADA)
    addresses.rename(SUCCESSOR, ADA)
  }

  it('stays the same when the address changes, and gives no other its old one, where Microsoft shows the directory', async () => {
    microsoft.applications.consent(TENANT)
    const connection = await connectMicrosoft()
    const ada = await connect(connection, ADA)
    passOn(microsoft.applications)
    await microsoft.deliver(ADA, plainMail({ subject: 'After the marriage' }))
    await client.post(`/accounts/${ada}/sync`)
    await eventually(async () => expect((await subjects(ada)).sort()).toEqual(['After the marriage', 'For Ada']))
    const successor = await connect(connection, ADA)
    expect([successor === ada, await subjects(successor)]).toEqual([false, ['For the successor']])
    expect(await connect(connection, NEW_ADA)).toBe(ada)
    expect((await client.get(`/connections/${connection}`)).json.accountCount).toBe(2)
  })

  it('stays the same when the directory becomes readable, and when it no longer is', async () => {
    const acme = microsoft.applications.consent(TENANT, { roles: MAILBOX_ROLES })
    const connection = await connectMicrosoft()
    const ada = await connect(connection, ADA)
    acme.roles = [...MAILBOX_ROLES, 'User.Read.All']
    microsoft.expireAccessTokens()
    expect(await connect(connection, ADA)).toBe(ada)
    microsoft.applications.addresses.rename(ADA, NEW_ADA)
    expect(await connect(connection, NEW_ADA)).toBe(ada)
    acme.roles = MAILBOX_ROLES
    microsoft.expireAccessTokens()
    expect(await connect(connection, NEW_ADA)).toBe(ada)

    const workspace = google.delegation.authorise('acme.example', { admins: [ADMIN], scopes: MAILBOX_SCOPES })
    const other = await connectGoogle()
    const gmail = await connect(other, ADA)
    workspace.scopes = [...MAILBOX_SCOPES, 'admin.directory.user.readonly']
    await eventually(async () => expect((await client.get(`/connections/${other}/users`)).status).toBe(200))
    expect(await connect(other, ADA)).toBe(gmail)
    workspace.admins = []
    expect(await connect(other, ADA)).toBe(gmail)
  })

  it('never gets the messages of the next owner of its address at Microsoft without the directory', async () => {
    microsoft.applications.consent(TENANT, { roles: MAILBOX_ROLES })
    const connection = await connectMicrosoft()
    const ada = await connect(connection, ADA)
    passOn(microsoft.applications)
    await expectLost(ada, 'another mailbox')
    expect(await subjects(ada)).toEqual(['For Ada'])
    const successor = await connect(connection, ADA)
    expect([successor === ada, await subjects(successor)]).toEqual([false, ['For the successor']])
    expect(await subjects(ada)).toEqual(['For Ada'])
  })

  it('never gets the messages of the next owner of its address at Google, where the directory is shown', async () => {
    google.delegation.authorise('acme.example', { admins: [ADMIN] })
    const connection = await connectGoogle()
    const ada = await connect(connection, ADA)
    passOn(google.delegation)
    google.expireAccessTokens()
    await expectLost(ada, NEW_ADA)
    expect(await subjects(ada)).toEqual(['For Ada'])
    const successor = await connect(connection, ADA)
    expect([successor === ada, await subjects(successor)]).toEqual([false, ['For the successor']])
    expect(await connect(connection, NEW_ADA)).toBe(ada)
    expect(await subjects(ada)).toEqual(['For Ada'])
  })

  it('goes on with the new key alone after a rotation of the encryption keys, a backup and a restore', async () => {
    microsoft.applications.consent(TENANT)
    google.delegation.authorise('acme.example', { admins: [ADMIN] })
    const connections = [await connectMicrosoft(), await connectGoogle()]
    const accounts = await Promise.all(connections.map((connection) => connect(connection, ADA)))
    const key = await rotateKeys(client, place)
    await service.stop()
    const restored = await open.place()
    await moveTo(restored, place, key)
    place = restored
    await serve({ ENCRYPTION_KEYS: key })
    const tokensBefore = [microsoft.applications.tokenRequests, google.delegation.tokenRequests] as const
    await microsoft.deliver(ADA, plainMail({ subject: 'After the restore' }))
    google.deliver(ADA, plainMail({ subject: 'After the restore' }))
    for (const account of accounts) {
      await client.post(`/accounts/${account}/sync`)
      await eventually(async () => {
        const { events } = (await client.get(`/events?accountId=${account}&type=message.received`)).json
        expect(events.map(({ data }: { data: { subject: string } }) => data.subject)).toContain('After the restore')
      })
      expect((await client.get(`/accounts/${account}`)).json.status).toBe('connected')
    }
    // Backups have no access tokens: the secrets that were sealed again issue new ones.
    expect(microsoft.applications.tokenRequests).toBeGreaterThan(tokensBefore[0])
    expect(google.delegation.tokenRequests).toBeGreaterThan(tokensBefore[1])
    const shown = (await client.get('/connections')).json.connections
    expect(shown.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual(
      connections.toReversed().map((id) => [id, 'connected']),
    )
  })
})
