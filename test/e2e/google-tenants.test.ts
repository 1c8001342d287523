import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeOneDatabase, describePostgres } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { runTenantKills } from '../scenarios/tenant-kills.ts'
import { expectMailOperations, sendingFailure } from '../scenarios/tenant-mail.ts'
import { startingGoogle } from '../scenarios/tenant-start.ts'
import { type Google, startGoogle } from '../servers/google.ts'
import { plainMail } from '../servers/messages.ts'

const [ADA, BOB, ADMIN, EVE] = ['ada@acme.example', 'bob@acme.example', 'root@acme.example', 'eve@other.example']
const SCOPES = ['gmail.modify', 'calendar.events', 'calendar.readonly']

describeOneDatabase('a tenant at Google', 'sqlite', (open) => {
  let google: Google
  let service: Service
  let client: Api
  const logged: string[] = []
  beforeEach(async () => {
    google = await startGoogle()
    for (const user of [ADA, BOB, ADMIN, EVE]) google.addUser(user)
    await serve()
  })
  afterEach(async () => {
    await service.stop()
    await google.close()
  })

  async function serve(environment: Record<string, string> = {}): Promise<void> {
    const { GOOGLE_TOKEN_URL = '', GOOGLE_API_URL = '' } = google.settings
    service = await startService({
      place: await open.place(),
      environment: { GOOGLE_TOKEN_URL, GOOGLE_API_URL, LOG_LEVEL: 'debug', ...environment },
      output: (entry) => void logged.push(JSON.stringify(entry)),
    })
    client = api(service.url, service.key)
  }

  const tenant = (more: object = {}) => ({
    provider: 'gmail',
    kind: 'tenant',
    name: 'Acme',
    serviceAccountKey: google.delegation.keyFile(),
    ...more,
  })
  const status = async (id: string) => (await client.get(`/accounts/${id}`)).json
  const isConnected = (id: string) => eventually(async () => expect((await status(id)).status).toBe('connected'))
  const connecting = async (connectionId: string, email: string) => {
    const { status, json } = await client.post('/accounts', { connectionId, email })
    return [status, json.error?.details?.[0]?.path ?? json.id, json.error?.message ?? '']
  }
  const refusal = async (body: object) => {
    const { status, json } = await client.post('/connections', body)
    return [status, json.error?.details?.[0]?.path, json.error?.message]
  }

  it('connects mailboxes by address, each with a token of its own, and lists the directory for an administrator', async () => {
    const acme = google.delegation.authorise('acme.example', { admins: [ADMIN] })
    expect(await refusal(tenant({ serviceAccountKey: '{}' }))).toMatchObject([
      400,
      'body.serviceAccountKey',
      expect.any(String),
    ])
    expect(await refusal(tenant({ tenantId: 'x' }))).toMatchObject([400, 'body.tenantId', expect.any(String)])
    const unknownKey = google.delegation.keyFile('key-2')
    expect(await refusal(tenant({ serviceAccountKey: unknownKey }))).toEqual([
      400,
      'body.serviceAccountKey',
      expect.stringContaining('key of the service account was deleted'),
    ])
    for (const [state, why] of [
      ['deleted', 'the service account does not exist any more'],
      ['disabled', 'the service account is disabled'],
    ] as const) {
      acme.serviceAccount = state
      const refused = [400, 'body.serviceAccountKey', expect.stringContaining(why)]
      expect([await refusal(tenant()), await refusal(tenant({ adminEmail: ADMIN }))]).toEqual([refused, refused])
    }
    acme.serviceAccount = 'enabled'
    expect(await refusal(tenant({ adminEmail: 'nobody@acme.example' }))).toEqual([
      400,
      'body.adminEmail',
      expect.stringContaining('no user with this address'),
    ])
    acme.scopes = SCOPES.slice(1)
    expect(await refusal(tenant({ adminEmail: ADMIN }))).toEqual([
      400,
      'body.serviceAccountKey',
      expect.stringContaining('Domain-wide delegation'),
    ])
    acme.scopes = SCOPES
    const created = await client.post(
      '/connections',
      tenant({ serviceAccountKey: JSON.stringify(google.delegation.keyFile()) }),
    )
    expect([created.status, created.json]).toMatchObject([
      200,
      {
        provider: 'gmail',
        tenantId: null,
        clientId: '104512345678901234567',
        serviceAccountEmail: 'posthorn@acme-mail.iam.gserviceaccount.com',
        keyId: 'key-1',
        adminEmail: null,
        hasSecret: true,
      },
    ])
    const { id } = created.json

    // The directory: first without an administrator, then without the scope, then with a user who is none.
    const listing = async () => {
      const { status, json } = await client.get(`/connections/${id}/users`)
      return [status, json.error?.code, json.error?.message]
    }
    const denied = (why: string) => [409, 'consent_required', expect.stringContaining(why)]
    expect(await listing()).toEqual(denied('no adminEmail'))
    expect((await client.patch(`/connections/${id}`, { adminEmail: BOB })).status).toBe(200)
    expect(await listing()).toEqual(denied('admin.directory.user.readonly'))
    acme.scopes = [...SCOPES, 'admin.directory.user.readonly']
    await eventually(async () => expect(await listing()).toEqual(denied('Only an administrator')))
    expect((await client.patch(`/connections/${id}`, { adminEmail: ADMIN })).json.adminEmail).toBe(ADMIN)
    acme.isDirectoryEnabled = false
    expect(await listing()).toEqual(denied('admin.googleapis.com'))
    acme.isDirectoryEnabled = true
    await google.deliver(ADA, plainMail({ subject: 'For Ada' }))
    const asked = google.delegation.tokenRequests
    const [, ada] = await connecting(id, ADA)
    const [, bob] = await connecting(id, BOB)
    await isConnected(ada)
    await isConnected(bob)
    expect(google.delegation.tokenRequests).toBe(asked + 2)
    const { users, pagination } = (await client.get(`/connections/${id}/users`)).json
    expect([users, pagination]).toMatchObject([
      [
        { email: ADA, accountId: ada },
        { email: BOB, accountId: bob },
        { email: ADMIN, accountId: null },
      ],
      { total: 3, hasNext: false },
    ])
    const page = (await client.get(`/connections/${id}/users?limit=2`)).json.pagination
    const rest = await client.get(`/connections/${id}/users?limit=2&pageToken=${page.nextPageToken}`)
    expect(rest.json.users).toMatchObject([{ email: ADMIN }])
    expect((await client.get(`/connections/${id}/users?q=bo`)).json.users).toMatchObject([{ email: BOB }])

    expect(await connecting(id, EVE)).toEqual([400, 'body.email', expect.stringContaining('not the address of a user')])
    const subjects = async (account: string) =>
      (await client.get(`/accounts/${account}/messages`)).json.messages.map(
        ({ subject }: { subject: string }) => subject,
      )
    expect([await subjects(ada), await subjects(bob)]).toEqual([['For Ada'], []])
    const message = { to: [EVE], subject: 'Hello', body: 'Hello Eve' }
    const { outboxId } = (await client.post(`/accounts/${bob}/messages/send`, message)).json
    await eventually(async () => expect((await client.get(`/outbox/${outboxId}`)).json.status).toBe('sent'))
    expect(google.sent).toMatchObject([{ user: BOB }])
    expect((await client.get(`/accounts/${ada}/calendars`)).json.calendars).toHaveLength(1)
    expect(logged.join('\n')).not.toMatch(/PRIVATE KEY|ya29\.|steal/)
  })

  it('searches, sends and writes drafts, and names the scope that is missing', async () => {
    const acme = google.delegation.authorise('acme.example', { scopes: SCOPES.slice(0, 2) })
    const [, , notDelegated] = await refusal(tenant({ adminEmail: ADMIN }))
    expect(notDelegated).toContain(SCOPES.map((name) => `https://www.googleapis.com/auth/${name}`).join(','))
    acme.scopes = SCOPES
    const connectAda = async () => {
      const { id } = (await client.post('/connections', tenant())).json
      const [, accountId] = await connecting(id, ADA)
      await isConnected(accountId)
      return accountId
    }
    const deliver = async (subject: string) => google.deliver(ADA, plainMail({ subject }))
    const sent = () => google.sent.map(({ raw }) => raw)
    await expectMailOperations({ client, accountId: await connectAda(), deliver, sent })

    await service.stop()
    await serve({ GOOGLE_SCOPES: 'gmail.readonly calendar.readonly' })
    acme.scopes = ['gmail.readonly', 'calendar.readonly']
    const accountId = await connectAda()
    expect(await sendingFailure({ client, accountId })).toMatch(/auth\/gmail\.modify.*GOOGLE_SCOPES/)
    const messageId = await eventually(async () => {
      const { messages } = (await client.get(`/accounts/${accountId}/messages?q=lunch`)).json
      expect(messages).toHaveLength(1)
      return messages[0].id
    })
    const denied = await client.patch(`/accounts/${accountId}/messages/${messageId}`, { unread: false })
    expect([denied.status, denied.json.error]).toMatchObject([
      409,
      { code: 'consent_required', message: expect.stringMatching(/auth\/gmail\.modify.*GOOGLE_SCOPES/) },
    ])
    expect(denied.json.error.message).not.toContain('/auth/sessions')
  })

  it('names the mailbox that is lost, and recovers all of them with a new key', async () => {
    const acme = google.delegation.authorise('acme.example')
    const { id } = (await client.post('/connections', tenant())).json
    expect(await connecting(id, 'nobody@acme.example')).toEqual([
      400,
      'body.email',
      expect.stringContaining('no user with this address'),
    ])
    // Google says of another domain what it says of scopes that are missing: the other mailboxes go on.
    expect(await connecting(id, EVE)).toEqual([
      400,
      'body.email',
      expect.stringContaining('administrator of the domain'),
    ])
    expect((await client.get(`/connections/${id}`)).json.status).toBe('connected')
    const [, ada] = await connecting(id, ADA)
    const [, bob] = await connecting(id, BOB)
    for (const account of [ada, bob]) await isConnected(account)

    acme.suspended.add(BOB)
    google.expireAccessTokens()
    for (const account of [ada, bob]) await client.post(`/accounts/${account}/sync`)
    await eventually(async () =>
      expect(await status(bob)).toMatchObject({
        status: 'auth_error',
        statusReason: expect.stringContaining('suspended or deleted'),
      }),
    )
    await isConnected(ada)
    expect((await client.get(`/connections/${id}`)).json.status).toBe('connected')

    acme.suspended.clear()
    acme.keyIds = ['key-2']
    google.expireAccessTokens()
    await client.post(`/accounts/${ada}/sync`)
    await eventually(async () => expect((await status(ada)).status).toBe('auth_error'))
    expect((await client.get(`/connections/${id}`)).json).toMatchObject({
      status: 'auth_error',
      statusReason: expect.stringContaining('key of the service account was deleted'),
    })
    const foreign = { ...google.delegation.keyFile('key-2'), client_email: 'other@acme-mail.iam.gserviceaccount.com' }
    expect((await client.patch(`/connections/${id}`, { serviceAccountKey: foreign })).json.error.details[0].path).toBe(
      'body.serviceAccountKey',
    )
    const renewed = await client.patch(`/connections/${id}`, { serviceAccountKey: google.delegation.keyFile('key-2') })
    expect(renewed.json).toMatchObject({ keyId: 'key-2', status: 'connected' })
    for (const account of [ada, bob]) await isConnected(account)
    expect((await client.delete(`/connections/${id}?force=true`)).status).toBe(200)
    expect((await client.get('/accounts')).json.accounts).toEqual([])
  })
})

/** `npm run test:soak -- test/soak/tenants.soak.ts` is the same at full size, for both providers. */
describePostgres('a tenant at Google on two replicas', (databases) => {
  it('has one request at a time for each token, and announces each message once, though one replica is killed', async () => {
    const tokens = await runTenantKills(databases, startingGoogle, { accounts: 6, rounds: 1, messages: 12 })
    // One that checks the credentials, one of each mailbox before and after the expiry, and those that the killed replica lost.
    expect(tokens).toBeGreaterThanOrEqual(1 + 2 * 6)
    expect(tokens).toBeLessThanOrEqual(1 + 3 * 6)
  })
})
