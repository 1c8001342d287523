import { X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeOneDatabase } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { expectMailOperations, sendingFailure } from '../scenarios/tenant-mail.ts'
import { plainMail } from '../servers/messages.ts'
import { makeCertificate } from '../servers/microsoft/certificate.ts'
import { type Microsoft, startMicrosoft } from '../servers/microsoft.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const OTHER_TENANT = '11111111-86f1-41af-91ab-2d7cd011db47'
const [ADA, BOB, EVE] = ['ada@acme.example', 'bob@acme.example', 'eve@other.example']
const NAMED = expect.any(String)
const PUBLIC_URL = 'https://posthorn.example.com/mail'

describeOneDatabase('a tenant at Microsoft', 'sqlite', (open) => {
  let microsoft: Microsoft
  let service: Service
  let client: Api
  const logged: string[] = []
  beforeEach(async () => {
    microsoft = await startMicrosoft()
    for (const user of [ADA, BOB]) microsoft.addUser(user, { tenant: TENANT })
    microsoft.addUser(EVE, { tenant: OTHER_TENANT })
    const { MICROSOFT_LOGIN_URL = '', MICROSOFT_GRAPH_URL = '' } = microsoft.settings
    service = await startService({
      place: await open.place(),
      // No client of Posthorn's own: a connection brings its credentials.
      environment: { MICROSOFT_LOGIN_URL, MICROSOFT_GRAPH_URL, PUBLIC_URL, LOG_LEVEL: 'debug' },
      output: (entry) => void logged.push(JSON.stringify(entry)),
    })
    client = api(service.url, service.key)
    microsoft.subscriptions.route(PUBLIC_URL, service.url)
  })
  afterEach(async () => {
    await service.stop()
    await microsoft.close()
  })

  const tenant = (more: object = {}) => ({
    provider: 'microsoft',
    kind: 'tenant',
    name: 'Acme',
    tenantId: TENANT,
    clientId: microsoft.client.id,
    clientSecret: 'tenant-secret',
    ...more,
  })
  const status = async (id: string) => (await client.get(`/accounts/${id}`)).json
  const isConnected = (id: string) => eventually(async () => expect((await status(id)).status).toBe('connected'))
  const connect = async (connectionId: string, email: string) => {
    const created = await client.post('/accounts', { connectionId, email })
    expect([created.status, created.text]).toEqual([200, expect.any(String)])
    await isConnected(created.json.id)
    return created.json.id as string
  }
  const eventTypes = async (accountId: string) =>
    (await client.get(`/events?accountId=${accountId}&limit=200`)).json.events.map(({ type }: { type: string }) => type)
  const refusal = async (body: object) => {
    const { status, json } = await client.post('/connections', body)
    return [status, json.error?.details?.[0]?.path, json.error?.message]
  }

  it('explains refused credentials, and accepts a secret or a certificate', async () => {
    const acme = microsoft.applications.consent(TENANT)
    expect(await refusal(tenant({ tenantId: OTHER_TENANT }))).toEqual([
      400,
      'body.tenantId',
      expect.stringMatching(/no such tenant.*AADSTS90002/),
    ])
    expect(await refusal(tenant({ tenantId: 'common' }))).toEqual([400, 'body.tenantId', NAMED])
    expect(await refusal(tenant({ clientSecret: 'its-id' }))).toEqual([
      400,
      'body.clientSecret',
      expect.stringMatching(/value, not its id.*AADSTS7000215/),
    ])
    acme.isSecretExpired = true
    expect(await refusal(tenant())).toEqual([400, 'body.clientSecret', expect.stringMatching(/expired.*AADSTS7000222/)])
    acme.isSecretExpired = false
    acme.isUnknown = true
    expect(await refusal(tenant())).toEqual([
      400,
      'body.clientId',
      expect.stringMatching(/administrator.*AADSTS700016/),
    ])
    acme.isUnknown = false
    expect(await refusal(tenant({ clientSecret: undefined }))).toEqual([400, 'body.clientSecret', NAMED])
    expect(await refusal(tenant({ thumbprint: 'ab' }))).toEqual([400, 'body.thumbprint', NAMED])

    const { certificate, privateKey } = await makeCertificate()
    const withKey = tenant({ clientSecret: undefined, privateKey, certificate })
    expect(await refusal(withKey)).toEqual([400, 'body.certificate', expect.stringMatching(/AADSTS700027/)])
    acme.certificates.push(certificate)
    expect(await refusal({ ...withKey, privateKey: 'no key' })).toEqual([400, 'body.privateKey', NAMED])
    const other = await makeCertificate()
    expect(await refusal({ ...withKey, certificate: other.certificate })).toEqual([400, 'body.certificate', NAMED])
    const created = await client.post('/connections', withKey)
    expect([created.status, created.json]).toMatchObject([200, { thumbprint: expect.stringMatching(/^[0-9a-f]{64}$/) }])
    const sha1 = new X509Certificate(certificate).fingerprint
    const bySha1 = tenant({ clientSecret: undefined, privateKey, thumbprint: sha1 })
    expect((await client.post('/connections', bySha1)).status).toBe(200)
    const [{ id }] = (await client.get('/connections?limit=1')).json.connections
    await isConnected(await connect(id, ADA))

    microsoft.fail({ as: 'unavailable', on: /token$/, times: 1 })
    expect((await client.post('/connections', tenant())).json.error.code).toBe('provider_unavailable')
  })

  it('connects mailboxes without consent, with one token, and reads, writes, sends and receives in each', async () => {
    microsoft.applications.consent(TENANT)
    const { id } = (await client.post('/connections', tenant())).json
    const asked = microsoft.applications.tokenRequests
    await microsoft.deliver(ADA, plainMail({ subject: 'Before' }))
    const [ada, bob] = [await connect(id, ADA), await connect(id, BOB.toUpperCase())]
    expect(microsoft.applications.tokenRequests).toBe(asked + 1)
    expect(await status(ada)).toMatchObject({ email: ADA, provider: 'microsoft', connectionId: id })
    expect(await status(bob)).toMatchObject({ email: BOB })
    expect((await client.post('/accounts', { connectionId: id, email: ADA })).json.id).toBe(ada)
    expect((await client.get(`/connections/${id}`)).json).toMatchObject({ accountCount: 2, status: 'connected' })

    // Push: a subscription to the user's messages, whose notifications reach the account.
    await eventually(() =>
      expect(microsoft.subscriptions.of(ADA).map(({ resource }) => resource)).toContainEqual(
        expect.stringMatching(/^users\/[^/]+\/messages$/),
      ),
    )
    await microsoft.deliver(ADA, plainMail({ subject: 'For Ada' }))
    await eventually(async () => expect(await eventTypes(ada)).toContain('message.received'))
    expect(await eventTypes(bob)).not.toContain('message.received')
    const { messages } = (await client.get(`/accounts/${ada}/messages`)).json
    expect(messages.map(({ subject }: { subject: string }) => subject).sort()).toEqual(['Before', 'For Ada'])
    expect((await client.get(`/accounts/${bob}/messages`)).json.messages).toEqual([])
    expect((await client.get(`/accounts/${ada}/messages/${messages[0].id}`)).status).toBe(200)
    expect((await client.patch(`/accounts/${ada}/messages/${messages[0].id}`, { unread: false })).status).toBe(200)

    const draft = { to: [EVE], subject: 'Draft', body: 'later' }
    const saved = await client.post('/drafts', { ...draft, accountId: bob })
    expect(saved.status).toBe(200)
    const message = { to: [EVE], subject: 'Hello', body: 'Hello Eve' }
    const { outboxId } = (await client.post(`/accounts/${bob}/messages/send`, message)).json
    await eventually(async () => expect((await client.get(`/outbox/${outboxId}`)).json.status).toBe('sent'))
    expect(microsoft.sent).toMatchObject([{ user: BOB }])
    expect((await client.get(`/accounts/${ada}/calendars`)).json.calendars).toHaveLength(1)

    // The directory.
    const users = (await client.get(`/connections/${id}/users`)).json
    expect(users).toMatchObject({
      users: [
        { email: ADA, name: 'ada', accountId: ada },
        { email: BOB, accountId: bob },
      ],
      pagination: { total: 2, hasNext: false },
    })
    const first = (await client.get(`/connections/${id}/users?limit=1`)).json
    expect(first.pagination).toMatchObject({ total: 1, totalCapped: true, hasNext: true })
    const second = await client.get(`/connections/${id}/users?limit=1&cursor=${first.pagination.nextCursor}`)
    expect(second.json).toMatchObject({ users: [{ email: BOB }], pagination: { total: 2, page: 2, hasNext: false } })
    expect((await client.get(`/connections/${id}/users?q=bo%22`)).json.users).toMatchObject([{ email: BOB }])
    const forged = Buffer.from(JSON.stringify(['x', 2, '/users/eve/messages', 1])).toString('base64url')
    expect((await client.get(`/connections/${id}/users?cursor=${forged}`)).status).toBe(400)
    // `/me` is nobody's for an application: every request went to the mailbox of a user.
    expect(microsoft.calls.all.filter(({ status }) => status === 400)).toEqual([])
    for (const path of ['messages', 'calendars', 'labels'])
      expect((await client.get(`/accounts/${bob}/${path}`)).status).toBe(200)

    // Secrets appear nowhere, and changes are audited.
    const all = [JSON.stringify((await client.get('/connections')).json), ...logged].join('\n')
    expect(all).not.toMatch(/tenant-secret|eyJ0eXAi/)
    const { auditEntries: entries = [] } = { auditEntries: (await client.get('/audit')).json.entries }
    expect(JSON.stringify(entries)).toContain('connection.created')
    expect(JSON.stringify(entries)).not.toContain('tenant-secret')
  })

  it('refuses mailboxes outside the policy or the tenant, and names the account that loses its mailbox', async () => {
    const acme = microsoft.applications.consent(TENANT)
    const { id } = (await client.post('/connections', tenant())).json
    const connecting = async (email: string) => {
      const { status, json } = await client.post('/accounts', { connectionId: id, email })
      return [status, json.error?.details?.[0]?.path, json.error?.message]
    }
    expect(await connecting(EVE)).toEqual([400, 'body.email', expect.stringContaining('not the address of a user')])
    expect(await connecting('nobody')).toEqual([400, 'body.email', NAMED])
    const unknown = await client.post('/accounts', { connectionId: 'con_nothing', email: ADA })
    expect([unknown.status, unknown.json.error.details[0].path]).toEqual([400, 'body.connectionId'])
    const mismatch = await client.post('/accounts', { connectionId: id, email: ADA, provider: 'imap' })
    expect([mismatch.status, mismatch.json.error.details[0].path]).toEqual([400, 'body.provider'])
    acme.excluded.add(BOB)
    expect(await connecting(BOB)).toEqual([400, 'body.email', expect.stringContaining('application access policy')])
    acme.excluded.clear()
    acme.outOfScope.add(BOB)
    expect(await connecting(BOB)).toEqual([
      400,
      'body.email',
      expect.stringContaining('Test-ServicePrincipalAuthorization'),
    ])
    acme.outOfScope.clear()
    microsoft.withholdMailbox(BOB, 'none')
    expect(await connecting(BOB)).toEqual([400, 'body.email', expect.stringContaining('cannot reach this mailbox')])
    microsoft.withholdMailbox(BOB, null)

    // Without the permission for the directory, mailboxes are connected by their addresses.
    acme.roles = ['Mail.ReadWrite']
    microsoft.expireAccessTokens()
    const listed = await client.get(`/connections/${id}/users`)
    expect([listed.status, listed.json.error]).toMatchObject([
      409,
      { code: 'consent_required', message: expect.stringContaining('User.Read.All') },
    ])
    const [ada, bob] = [await connect(id, ADA), await connect(id, BOB)]

    acme.excluded.add(BOB)
    // Three checks in a row have to fail: one refusal may be a mistake of Microsoft.
    await eventually(async () => {
      const account = await status(bob)
      if (account.status !== 'auth_error') await client.post(`/accounts/${bob}/sync`)
      expect(account).toMatchObject({
        status: 'auth_error',
        statusReason: expect.stringContaining('application access policy'),
      })
    })
    await eventually(async () => expect(await eventTypes(bob)).toContain('account.auth_error'))
    await client.post(`/accounts/${ada}/sync`)
    await isConnected(ada)
    expect(await eventTypes(ada)).not.toContain('account.auth_error')
    acme.excluded.clear()
    await client.post(`/accounts/${bob}/sync`)
    await isConnected(bob)
  })

  it('searches, sends and writes drafts, and names the permission that is missing', async () => {
    const acme = microsoft.applications.consent(TENANT)
    const { id } = (await client.post('/connections', tenant())).json
    const accountId = await connect(id, ADA)
    const deliver = (subject: string) => microsoft.deliver(ADA, plainMail({ subject }))
    await expectMailOperations({ client, accountId, deliver, sent: () => microsoft.sent.map(({ raw }) => raw) })

    const [{ id: messageId }] = (await client.get(`/accounts/${accountId}/messages?q=lunch`)).json.messages
    const permit = (...roles: string[]) => {
      acme.roles = roles
      microsoft.expireAccessTokens()
    }
    permit('Mail.ReadWrite', 'Calendars.ReadWrite')
    expect(await sendingFailure({ client, accountId })).toContain('the application permission Mail.Send,')
    permit('Mail.Read', 'Mail.Send', 'Calendars.Read')
    const denied = await client.patch(`/accounts/${accountId}/messages/${messageId}`, { unread: false })
    expect([denied.status, denied.json.error]).toMatchObject([
      409,
      { code: 'consent_required', message: expect.stringContaining('the application permission Mail.ReadWrite,') },
    ])
    // Nobody signs in to this account.
    expect(denied.json.error.message).not.toContain('/auth/sessions')
  })

  it('is auth_error with all its accounts when its secret expires, and recovers with a new one', async () => {
    const acme = microsoft.applications.consent(TENANT)
    const { id } = (await client.post('/connections', tenant())).json
    const accounts = [await connect(id, ADA), await connect(id, BOB)]
    acme.isSecretExpired = true
    microsoft.expireAccessTokens()
    const asked = microsoft.applications.tokenRequests
    for (const account of accounts) await client.post(`/accounts/${account}/sync`)
    for (const account of accounts) {
      await eventually(async () =>
        expect(await status(account)).toMatchObject({
          status: 'auth_error',
          statusReason: expect.stringMatching(/expired.*7000222/),
        }),
      )
    }
    expect((await client.get(`/connections/${id}`)).json).toMatchObject({
      status: 'auth_error',
      statusReason: expect.stringMatching(/expired.*7000222/),
    })
    expect(microsoft.applications.tokenRequests - asked).toBeLessThanOrEqual(2)
    expect((await client.patch(`/connections/${id}`, { clientSecret: 'wrong' })).status).toBe(400)
    Object.assign(acme, { isSecretExpired: false, secret: 'second-secret' })
    const patched = await client.patch(`/connections/${id}`, { name: 'Acme Ltd', clientSecret: 'second-secret' })
    expect(patched.json).toMatchObject({ name: 'Acme Ltd', status: 'connected', statusReason: null, accountCount: 2 })
    for (const account of accounts) {
      await isConnected(account)
      // Events are listed soon after they were recorded.
      await eventually(async () => {
        const types = (await eventTypes(account)).filter((type: string) => /auth_error|recovered/.test(type))
        expect(types.sort()).toEqual(['account.auth_error', 'account.recovered'])
      })
    }

    const kept = await client.delete(`/connections/${id}`)
    expect([kept.status, kept.json.error.message]).toEqual([409, expect.stringContaining('2 accounts use')])
    expect((await client.delete(`/connections/${id}?force=true`)).status).toBe(200)
    expect((await client.get(`/connections/${id}`)).status).toBe(404)
    expect((await client.get('/accounts')).json.accounts).toEqual([])
    for (const account of accounts) {
      await eventually(async () => expect(await eventTypes(account)).toContain('account.deleted'))
    }
    // The subscriptions are ended with the token of the connection, or expire.
    const again = await client.post('/accounts', { connectionId: id, email: ADA })
    expect([again.status, again.json.error.details[0].path]).toEqual([400, 'body.connectionId'])
  })
})
