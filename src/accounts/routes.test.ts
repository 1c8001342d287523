import { afterEach, beforeEach, expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../test/kit/accounts/accounts.ts'
import { loginAt, oauthLink } from '../../test/kit/accounts/oauth.ts'
import { describeEachDatabase } from '../../test/kit/database/database.ts'
import { eventually } from '../../test/kit/eventually.ts'
import { expectForgeriesRefused } from '../../test/kit/http/cursors.ts'
import { testServer } from '../../test/kit/http/server.ts'
import { microsoftAt } from '../../test/servers/microsoft-mailbox.ts'
import { errorResponse, type OAuthServer, startOAuthServer } from '../../test/servers/oauth-server.ts'
import { idempotency } from '../operations/idempotency/index.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../platform/crypto/seal.ts'
import type { Db } from '../platform/db/index.ts'
import type { App } from '../platform/http/index.ts'
import { idGenerator } from '../platform/ids.ts'
import { silentLog } from '../platform/log/index.ts'
import { systemClock } from '../platform/time/clock.ts'
import { type MailAccess, ProviderError } from '../providers/contract/index.ts'
import { gmailProvider } from '../providers/gmail/index.ts'
import { accountRoutes, openConnections, SYNC_TOPIC, VerificationLimit } from './index.ts'
import type { AccountRoutesDeps } from './routes.ts'

const FOLDERS = [
  { id: 'lbl_1', name: 'INBOX', providerId: 'INBOX' },
  { id: 'lbl_2', name: 'Work', providerId: 'Work' },
]

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

const form = { email: 'ada@example.com', host: 'imap.example.com', username: 'ada', password: 'secret' }

describeEachDatabase('the accounts API', (open) => {
  let app: App | undefined
  let oauthServer: OAuthServer
  beforeEach(async () => {
    oauthServer = await startOAuthServer()
  })
  afterEach(async () => {
    await app?.close()
    await oauthServer.close()
  })

  /** The routes, with a mail server that rejects one password. */
  async function serve({ login = loginAt(oauthServer.url) }: Partial<AccountRoutesDeps> = {}) {
    const db = await open()
    const fixture = testAccounts(db)
    const tried: MailAccess[] = []
    const triedFurther: string[] = []
    const further = (name: 'smtpPassword' | 'caldavPassword') => ({
      async verify({ secrets }: MailAccess) {
        triedFurther.push(name)
        if (secrets[name] === 'wrong') throw new ProviderError('auth_expired', 'refused')
      },
    })
    const logged: unknown[] = []
    const verify = async (access: MailAccess) => {
      tried.push(access)
      if (access.secrets.password === 'wrong') throw new ProviderError('auth_expired', 'refused')
      return { folders: [] }
    }
    const idem = idempotency({ db, clock: systemClock, sealer: sealer(parseKeyRing(generateKeyRing())) })
    const server = testServer({ idempotency: idem })
    app = server
    accountRoutes(server, {
      db,
      accounts: fixture.accounts,
      idempotency: idem,
      log: { ...silentLog, info: (message, fields) => void logged.push([message, fields?.error]) },
      mail: (provider) => (provider === 'imap' ? { verify, closeConnections: async () => {} } : undefined),
      login,
      further: { smtp: further('smtpPassword'), caldav: further('caldavPassword') },
      verifications: new VerificationLimit(),
      connections: openConnections({
        db,
        clock: systemClock,
        ids: idGenerator(systemClock),
        sealer: sealer(parseKeyRing(generateKeyRing())),
        log: silentLog,
        tenants: {
          gmail: gmailProvider({ apiUrl: 'http://127.0.0.1:9', clock: systemClock }).tenant,
          microsoft: microsoftAt('http://127.0.0.1:9').tenant,
        },
        accounts: () => fixture.accounts,
      }),
      mailLogins: new Map(),
      listFolders: async () => FOLDERS,
    })
    const call = async (method: Method, url: string, payload?: object, headers: Record<string, string> = {}) => {
      const sent = { authorization: 'Bearer good', ...headers }
      const response = await server.inject({ method, url, headers: sent, ...(payload && { payload }) })
      return { status: response.statusCode, body: response.json(), headers: response.headers }
    }
    return { call, fixture, db, tried, triedFurther, logged }
  }

  it('connects a mailbox after verifying its credentials, and never returns them', async () => {
    const { call, tried, fixture } = await serve()
    const { status, body } = await call('POST', '/accounts', { ...form, port: '143', customUserId: 'user-1' })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^acc_/),
      email: 'ada@example.com',
      provider: 'imap',
      paused: false,
      status: 'connecting',
      statusReason: null,
      watch: true,
      customUserId: 'user-1',
      lastSyncAt: null,
      tokens: { expiresAt: null, scopes: [], hasRefreshToken: false },
      connectionId: null,
      folders: null,
      sharedWith: null,
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    })
    expect(tried).toMatchObject([{ settings: { imap: { port: 143, security: 'starttls' } } }])
    expect((await fixture.accounts.access(body.id)).secrets).toEqual({ password: 'secret' })
    expect((await call('GET', `/accounts/${body.id}`)).body).toEqual(body)
    expect((await call('GET', '/accounts/user-1')).body).toEqual(body)
  })

  it('verifies the SMTP and the CalDAV server that it was given, after the mailbox', async () => {
    const { call, tried, triedFurther, fixture } = await serve()
    const fields = { ...form, smtpHost: 'out.example.com', caldavUrl: 'https://dav.example.com', caldavPassword: 'dav' }
    const readError = async (more: object) => {
      const { status, body } = await call('POST', '/accounts', { ...fields, ...more })
      return [status, body.error.code, triedFurther.splice(0)]
    }
    expect(await readError({ password: 'wrong' })).toEqual([400, 'imap_auth_failed', []])
    expect(await readError({ smtpPassword: 'wrong' })).toEqual([400, 'smtp_auth_failed', ['smtpPassword']])
    const both = ['smtpPassword', 'caldavPassword']
    expect(await readError({ caldavPassword: 'wrong' })).toEqual([400, 'caldav_auth_failed', both])
    expect((await call('GET', '/accounts')).body.pagination.total).toBe(0)
    const { body } = await call('POST', '/accounts', fields)
    expect((await fixture.accounts.access(body.id)).secrets).toEqual({ password: 'secret', caldavPassword: 'dav' })
    expect([tried.length, triedFurther]).toEqual([4, both])
  })

  it('creates one account for two posts with one Idempotency-Key', async () => {
    const { call, tried } = await serve()
    const key = { 'idempotency-key': 'k1' }
    const first = await call('POST', '/accounts', form, key)
    const again = await call('POST', '/accounts', form, key)
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(tried).toHaveLength(1)
  })

  it('rejects credentials with a code, and invalid fields with one detail each', async () => {
    const { call, tried, logged } = await serve()
    const refused = await call('POST', '/accounts', { ...form, password: 'wrong' })
    expect([refused.status, refused.body.error.code, refused.body.error.type]).toEqual([
      400,
      'imap_auth_failed',
      'provider',
    ])
    expect(JSON.stringify(refused.body)).not.toContain('wrong"')
    expect(logged).toEqual([
      ['Cannot verify the credentials of a new account.', new ProviderError('auth_expired', 'refused')],
    ])
    const faulty = await call('POST', '/accounts', { email: 'ada@example.com', host: 'a b', port: true, username: '' })
    expect(faulty.status).toBe(400)
    expect(faulty.body.error.details.map((detail: { path: string }) => detail.path)).toEqual(['body.port'])
    const empty = await call('POST', '/accounts')
    expect(empty.body.error.details.map((detail: { path: string }) => detail.path)).toEqual([
      'body.email',
      'body.host',
      'body.username',
      'body.password',
    ])
    for (const [provider, path] of Object.entries({
      gmail: 'refreshToken',
      microsoft: 'refreshToken',
      pigeon: 'provider',
    })) {
      const { status, body } = await call('POST', '/accounts', { ...form, provider })
      expect([status, body.error.details[0]?.path]).toEqual([400, `body.${path}`])
    }
    expect(tried).toHaveLength(1)
    expect((await call('GET', '/accounts')).body.pagination.total).toBe(0)
  })

  it.each([
    ['gmail', 'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET'],
    ['microsoft', 'MICROSOFT_CLIENT_ID and MICROSOFT_CLIENT_SECRET'],
  ])('names the settings of %s while it is not configured', async (provider, settings) => {
    const { call } = await serve({ login: () => undefined })
    const { status, body } = await call('POST', '/accounts', { provider, refreshToken: 'given' })
    const details = [{ path: 'body.provider', message: `is not configured; set ${settings}` }]
    expect([status, body.error.details]).toEqual([400, details])
  })

  it.each(['gmail', 'microsoft'])(
    'imports a mailbox of %s by a refresh token, after verifying it',
    async (provider) => {
      const { call, fixture } = await serve()
      oauthServer.rotates = { graceMs: 0 }
      const refreshToken = oauthServer.refreshToken()
      const json = { provider, refreshToken, email: 'Ada@Example.com', customUserId: 'user-1' }
      const { status, body } = await call('POST', '/accounts', json)
      expect([status, body]).toMatchObject([200, { provider, email: 'ada@example.com', customUserId: 'user-1' }])
      expect(body.tokens).toMatchObject({ hasRefreshToken: true })
      expect(JSON.stringify(body)).not.toContain(refreshToken)
      const { accessToken, secrets } = await fixture.accounts.access(body.id)
      expect([secrets, await accessToken?.()]).toEqual([{}, expect.stringMatching(/^access-/)])
    },
  )

  it.each<[string, object, () => void, number, string]>([
    [
      'a token that is refused',
      {},
      () => void oauthServer.nextResponses.push(errorResponse('invalid_grant')),
      400,
      'validation_failed',
    ],
    [
      'a token of another client',
      {},
      () => void oauthServer.nextResponses.push(errorResponse('unauthorized_client')),
      400,
      'validation_failed',
    ],
    [
      'a client that the provider refuses',
      {},
      () => void oauthServer.nextResponses.push(errorResponse('invalid_client')),
      502,
      'provider_rejected',
    ],
    [
      'a token without access to messages',
      {},
      () => void Object.assign(oauthServer.granted, { scope: 'openid' }),
      400,
      'validation_failed',
    ],
    ['a token of another user', { email: 'grace@example.com' }, () => {}, 400, 'validation_failed'],
    [
      'a provider failure',
      {},
      () => void oauthServer.nextResponses.push(errorResponse('x', 503)),
      502,
      'provider_unavailable',
    ],
  ])('rejects an import by a refresh token: %s', async (_title, fields, prepare, status, code) => {
    const { call } = await serve()
    const refreshToken = oauthServer.refreshToken()
    prepare()
    const response = await call('POST', '/accounts', { provider: 'gmail', refreshToken, ...fields })
    expect([response.status, response.body.error.code]).toEqual([status, code])
    expect(JSON.stringify(response.body)).not.toContain(refreshToken)
    expect((await call('GET', '/accounts')).body.pagination.total).toBe(0)
  })

  it('lists newest first, by page and by cursor', async () => {
    const { call, fixture } = await serve()
    const ids: string[] = []
    for (let i = 0; i < 5; i += 1) ids.unshift((await fixture.link(imapUser(`user-${i}`))).id)
    const first = await call('GET', '/accounts?limit=2')
    expect(first.body.accounts.map((account: { id: string }) => account.id)).toEqual(ids.slice(0, 2))
    expect(first.body.pagination).toMatchObject({ page: 1, limit: 2, total: 5, totalPages: 3, hasNext: true })
    const { nextCursor } = first.body.pagination
    for (const url of [`/accounts?limit=2&cursor=${nextCursor}`, '/accounts?limit=2&page=2']) {
      const second = await call('GET', url)
      expect(second.body.accounts.map((account: { id: string }) => account.id)).toEqual(ids.slice(2, 4))
      expect(second.body.pagination).toMatchObject({ page: 2, hasPrev: true })
    }
    await expectForgeriesRefused(nextCursor, (query) => call('GET', `/accounts?limit=2&${query}`))
    expect((await call('GET', '/accounts?cursor=x')).body.error.code).toBe('invalid_cursor')
    expect((await call('GET', '/accounts?limit=0')).status).toBe(400)
    expect((await call('GET', '/accounts?limit=1000')).body.pagination.limit).toBe(200)

    await call('POST', `/accounts/${ids[1]}/pause`)
    for (const [query, expected] of [
      ['status=paused', [ids[1]]],
      ['status=connecting&provider=imap&limit=2', [ids[0], ids[2]]],
      ['status=connecting&limit=2&page=2', [ids[3], ids[4]]],
      ['provider=gmail', []],
      [`q=${encodeURIComponent(first.body.accounts[0].email.toUpperCase())}`, [ids[0]]],
    ] as const) {
      const { body } = await call('GET', `/accounts?${query}`)
      expect([query, body.accounts.map(({ id }: { id: string }) => id)]).toEqual([query, expected])
    }
    expect((await call('GET', `/accounts?status=paused&cursor=${nextCursor}`)).body.error.code).toBe('invalid_cursor')
    expect((await call('GET', '/accounts?status=broken')).status).toBe(400)
  })

  it.each(['gmail', 'microsoft'] as const)('refuses to choose folders for %s, and says why', async (provider) => {
    const { call, fixture } = await serve()
    const { id } = await fixture.link(oauthLink('r', { provider }))
    const { status, body } = await call('PATCH', `/accounts/${id}`, { folders: ['INBOX'] })
    expect(status).toBe(400)
    const why = `cannot be chosen for ${provider}, which reports the changes of all folders together`
    expect(body.error.details).toMatchObject([{ path: 'body.folders', message: why }])
    expect((await call('GET', `/accounts/${id}`)).body.folders).toBeNull()
  })

  it('changes only the members that a client may change', async () => {
    const { call, fixture } = await serve()
    const { id } = await fixture.link({ customUserId: 'user-1' })
    const changed = await call('PATCH', `/accounts/${id}`, { watch: false, paused: true, email: 'other@example.com' })
    expect(changed.body).toMatchObject({ watch: false, paused: true, status: 'paused', email: 'ada@example.com' })
    expect((await call('PATCH', '/accounts/user-1', { customUserId: null })).body.customUserId).toBeNull()
    expect((await call('PATCH', '/accounts/user-1', { watch: true })).status).toBe(404)
    expect((await call('PATCH', `/accounts/${id}`, { paused: 'yes' })).status).toBe(400)

    const chosen = await call('PATCH', `/accounts/${id}`, { folders: ['Work', 'inbox', 'lbl_2'] })
    expect(chosen.body.folders).toEqual(['lbl_1', 'lbl_2'])
    const missing = await call('PATCH', `/accounts/${id}`, { folders: ['Work', 'Invoices', 'lbl_3'] })
    expect(missing.status).toBe(400)
    expect(missing.body.error.details.map(({ path }: { path: string }) => path)).toEqual([
      'body.folders.1',
      'body.folders.2',
    ])
    expect(missing.body.error.message).toContain('"Invoices"')
    expect((await call('GET', `/accounts/${id}`)).body.folders).toEqual(['lbl_1', 'lbl_2'])
    expect((await call('PATCH', `/accounts/${id}`, { folders: null })).body.folders).toBeNull()
    await fixture.link({ customUserId: 'user-2' })
    expect((await call('PATCH', `/accounts/${id}`, { customUserId: 'user-2' })).status).toBe(409)
  })

  it('pauses, resumes and wakes', async () => {
    const { call, fixture, db } = await serve()
    const { id } = await fixture.link({ customUserId: 'user-1' })
    expect((await call('POST', '/accounts/user-1/pause')).body).toMatchObject({ id, status: 'paused' })
    expect((await call('POST', '/accounts/user-1/pause')).status).toBe(200)
    expect((await call('POST', `/accounts/${id}/resume`)).body).toMatchObject({ paused: false, status: 'connecting' })
    const hints: (string | undefined)[] = []
    fixture.bus.subscribe(SYNC_TOPIC, (hint) => void hints.push(hint))
    expect((await call('POST', `/accounts/${id}/sync`)).body).toMatchObject({ id })
    await eventually(() => expect(hints).toEqual([`now ${id}`]))
    expect((await requestedAt(db)).get(id)).toBeGreaterThan(0)
    expect((await fixture.events(id)).map((event) => event.type)).toEqual([
      'account.connected',
      'account.paused',
      'account.resumed',
    ])
  })

  it('deletes an account and then returns 404 for it', async () => {
    const { call, fixture } = await serve()
    const { id } = await fixture.link()
    expect((await call('DELETE', `/accounts/${id}`)).body).toEqual({ success: true, message: expect.any(String) })
    expect((await call('GET', `/accounts/${id}`)).status).toBe(404)
    expect((await call('DELETE', `/accounts/${id}`)).status).toBe(404)
  })

  it.each<[Method, string]>([
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/sync'],
  ])('%s /accounts/{id}%s requires the key, an existing account and an unambiguous alias', async (method, path) => {
    const { call, fixture } = await serve()
    expect((await call(method, `/accounts/acc_0${path}`, undefined, { authorization: '' })).status).toBe(401)
    expect((await call(method, `/accounts/acc_0${path}`)).body.error.code).toBe('not_found')
    for (const name of ['one', 'two']) await fixture.link({ ...imapUser(name), customUserId: 'team' })
    const ambiguous = await call(method, `/accounts/team${path}`)
    expect([ambiguous.status, ambiguous.body.error.code]).toEqual([409, 'ambiguous_alias'])
    if (method !== 'GET') {
      const reader = { authorization: 'Bearer reader' }
      expect((await call(method, `/accounts/acc_0${path}`, undefined, reader)).status).toBe(403)
    }
  })

  it('requires the key for listing and creating', async () => {
    const { call } = await serve()
    for (const method of ['GET', 'POST'] as const) {
      expect((await call(method, '/accounts', undefined, { authorization: '' })).status).toBe(401)
    }
  })
})

async function requestedAt(db: Db) {
  const rows = await db.read.selectFrom('accounts').select(['id', 'syncRequestedAt']).execute()
  return new Map(rows.map((row) => [row.id, row.syncRequestedAt]))
}
