import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../../test/kit/accounts/accounts.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { api } from '../../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../../test/kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { GOOGLE_SCOPES, type Google, startGoogle } from '../../../../test/servers/google.ts'
import { MICROSOFT_SCOPES, type Microsoft, startMicrosoft } from '../../../../test/servers/microsoft.ts'
import { cli } from '../../cli.ts'

const open = databases('sqlite')
const IMAP_SCOPE = 'https://outlook.office.com/IMAP.AccessAsUser.All'

let folder: string
let google: Google
let microsoft: Microsoft
let service: Service
/** What the service logged, at the level trace. */
const logged: string[] = []
/** Everything that the commands printed. */
const printed: string[] = []
const secrets = new Set<string>()

beforeAll(async () => {
  ;[google, microsoft, folder] = await Promise.all([
    startGoogle(),
    startMicrosoft(),
    mkdtemp(join(tmpdir(), 'posthorn-import-')),
  ])
  const place = await open.place()
  await testAccounts(await open(place)).link(imapUser('known'))
  service = await startService({
    place,
    environment: { ...google.settings, ...microsoft.settings, LOG_LEVEL: 'trace' },
    output: (entry) => void logged.push(JSON.stringify(entry)),
  })
})
afterAll(async () => {
  await service?.stop()
  await Promise.all([google?.close(), microsoft?.close(), rm(folder, { recursive: true, force: true })])
  // A secret in the output or in the log would be there for good.
  for (const secret of secrets) {
    expect(printed.filter((text) => text.includes(secret))).toEqual([])
    expect(logged.filter((text) => text.includes(secret))).toEqual([])
  }
  expect(secrets.size).toBeGreaterThan(8)
})

const secret = (text: string) => {
  secrets.add(text)
  return text
}

async function posthorn(
  source: string,
  content: string,
  options: string[] = [],
  over: { key?: string; url?: string } = {},
) {
  const file = join(folder, 'export.json')
  await writeFile(file, content)
  const [out, error] = [[] as string[], [] as string[]]
  const { key = service.key, url = service.url } = over
  const terminal = { out: (text: string) => out.push(text), error: (text: string) => error.push(text) }
  const code = await cli(['import', source, file, '--url', url, '--key', key, ...options], terminal)
  printed.push(...out, ...error)
  return { code, out: out.join('\n'), error: error.join('\n') }
}

/** The status, the reason and the account of each record by its id. */
async function imported(source: string, records: unknown[], options: string[] = []) {
  const run = await posthorn(source, JSON.stringify(records), ['--json', ...options])
  const report = JSON.parse(run.out)
  const byId: Record<string, { status: string; reason: string | null; accountId: string | null; session: unknown }> =
    Object.fromEntries(report.accounts.map((account: { id: string }) => [account.id, account]))
  return { ...run, report, byId }
}

const accountTotal = async () => (await api(service.url, service.key).get('/accounts')).json.pagination.total
const account = async (id: string) => (await api(service.url, service.key).get(`/accounts/${id}`)).json

async function googleToken(user: string, scopes = GOOGLE_SCOPES) {
  google.addUser(user)
  return secret((await google.grant(user, scopes)).refreshToken)
}

async function microsoftToken(user: string, scopes = MICROSOFT_SCOPES) {
  microsoft.addUser(user)
  return secret((await microsoft.grant(user, scopes)).refreshToken)
}

describe('import nylas', () => {
  const grant = (id: string, provider: string, email: string, settings?: object) => ({
    id,
    provider,
    email,
    grant_status: 'valid',
    scope: [],
    created_at: 1617817109,
    ...(settings && { settings }),
  })

  it('imports what has a token, says what needs its user, and changes nothing the second time', async () => {
    const before = await accountTotal()
    const grants = [
      grant('n-google', 'google', 'n1@gmail.test', { refresh_token: await googleToken('n1@gmail.test') }),
      grant('n-outlook', 'microsoft', 'N2@example.test', { refresh_token: await microsoftToken('n2@example.test') }),
      grant('n-hosted', 'google', 'n3@gmail.test'),
      grant('n-foreign', 'google', 'n4@gmail.test', { refresh_token: secret(google.foreignToken()) }),
      grant('n-revoked', 'microsoft', 'n5@example.test', { refresh_token: secret('M.C5_revoked-token') }),
      grant('n-narrow', 'microsoft', 'n6@example.test', {
        refresh_token: await microsoftToken('n6@example.test', ['User.Read', 'offline_access', 'Mail.Send']),
      }),
      grant('n-other', 'google', 'boss@gmail.test', { refresh_token: await googleToken('n7@gmail.test') }),
      grant('n-ews', 'ews', 'n8@corp.test', { ews_password: secret('exchange-password') }),
      grant('n-down', 'imap', 'n9@mail.test', {
        imap_username: 'n9',
        imap_password: secret('password-of-n9'),
        imap_host: '127.0.0.1',
        imap_port: '1',
      }),
    ]
    const plan = await imported('nylas', grants, ['--dry-run'])
    expect(plan.code).toBe(0)
    expect(plan.report).toMatchObject({
      dryRun: true,
      counts: { will_import: 7, needs_consent: 1, unsupported: 1, imported: 0, will_fail: 0 },
    })
    expect(await accountTotal()).toBe(before)
    expect(google.refreshes('n1@gmail.test')).toBe(0)

    const first = await imported('nylas', grants)
    expect(first).toMatchObject({ code: 1, error: expect.stringMatching(/posthorn: 2 of 9 accounts failed\.$/) })
    const statuses = Object.fromEntries(Object.entries(first.byId).map(([id, { status }]) => [id, status]))
    expect(statuses).toEqual({
      'n-google': 'imported',
      'n-outlook': 'imported',
      'n-hosted': 'needs_consent',
      'n-foreign': 'needs_consent',
      'n-revoked': 'needs_consent',
      'n-narrow': 'needs_consent',
      'n-other': 'failed',
      'n-ews': 'unsupported',
      'n-down': 'failed',
    })
    expect(first.byId['n-hosted']?.session).toEqual({
      provider: 'gmail',
      email: 'n3@gmail.test',
      customUserId: 'n-hosted',
    })
    expect(first.byId['n-foreign']?.reason).toBe('the refresh token was issued to another OAuth client')
    expect(first.byId['n-other']?.reason).toContain('--other-addresses')
    // The id at Nylas is an alias of the account.
    expect(await account('n-google')).toMatchObject({
      id: first.byId['n-google']?.accountId,
      provider: 'gmail',
      email: 'n1@gmail.test',
      customUserId: 'n-google',
    })
    expect(await accountTotal()).toBe(before + 2)

    const refreshes = google.refreshes('n1@gmail.test')
    const second = await imported('nylas', grants, ['--other-addresses'])
    expect(second.byId['n-google']).toMatchObject({
      status: 'already_connected',
      accountId: first.byId['n-google']?.accountId,
    })
    expect(second.byId['n-other']).toMatchObject({ status: 'imported' })
    expect(await account('n-other')).toMatchObject({ email: 'n7@gmail.test' })
    expect(google.refreshes('n1@gmail.test')).toBe(refreshes)
    const third = await imported('nylas', grants, ['--other-addresses'])
    expect(third.byId['n-other']).toMatchObject({ status: 'already_connected' })
    expect(await accountTotal()).toBe(before + 3)
  })

  it('takes the tokens from records that follow the pages of grants', async () => {
    const token = await googleToken('pages@gmail.test')
    const page = { request_id: 'r', data: [grant('p-1', 'google', 'pages@gmail.test')], limit: 10, offset: 0 }
    const text = `${JSON.stringify(page, null, 2)}\n${JSON.stringify({ id: 'p-1', settings: { refresh_token: token } })}\n`
    expect(await posthorn('nylas', text)).toMatchObject({ code: 0, error: '1 imported.' })
    expect(await account('p-1')).toMatchObject({ email: 'pages@gmail.test' })
  })

  it('replaces the credentials of an account that is refused', async () => {
    const user = 'expired@gmail.test'
    const old = grant('x-1', 'google', user, { refresh_token: await googleToken(user) })
    const { accountId } = (await imported('nylas', [old])).byId['x-1'] ?? {}
    google.revokeGrants(user)
    await api(service.url, service.key).post(`/accounts/${accountId}/sync`)
    await expect.poll(async () => (await account('x-1')).status, { timeout: 20_000 }).toBe('auth_error')
    const fresh = grant('x-1', 'google', user, { refresh_token: await googleToken(user) })
    const plan = await imported('nylas', [fresh], ['--dry-run'])
    expect(plan.byId['x-1']).toMatchObject({ status: 'will_import', reason: 'replaces refused credentials' })
    expect((await imported('nylas', [fresh])).byId['x-1']).toMatchObject({ status: 'imported', accountId })
    expect((await account('x-1')).status).not.toBe('auth_error')
  })
})

describe('import emailengine', () => {
  const APP = { id: 'AAABhaBPHscAAAAH', name: 'Mail', clientId: '' }
  const oauth = (account: string, user: string, refreshToken: string, app: object) => ({
    account,
    name: account,
    email: user,
    path: '*',
    state: 'connected',
    oauth2: { provider: APP.id, auth: { user }, refreshToken, accessToken: secret(`ya29.${account}`), scope: [] },
    _app: { ...APP, ...app },
    counters: {},
  })

  it('imports OAuth accounts of the same client, and never those of another', async () => {
    const gmailApp = { provider: 'gmail', clientId: google.client.id, baseScopes: 'imap', clientSecret: '$wd01$x' }
    const graphApp = { provider: 'outlook', clientId: microsoft.client.id, baseScopes: 'api' }
    const user = 'ee1@gmail.test'
    const accounts = [
      oauth('ee-gmail', user, await googleToken(user), gmailApp),
      oauth('ee-graph', 'ee2@example.test', await microsoftToken('ee2@example.test'), graphApp),
      oauth(
        'ee-imap',
        'ee3@example.test',
        await microsoftToken('ee3@example.test', [...MICROSOFT_SCOPES, IMAP_SCOPE]),
        {
          ...graphApp,
          baseScopes: 'imap',
        },
      ),
      oauth('ee-other', 'ee4@gmail.test', await googleToken('ee4@gmail.test'), { ...gmailApp, clientId: 'another' }),
    ]
    // As a loop of `emailengine export` writes them: without separators, and the last one was interrupted.
    const log = '{"level":10,"time":1772000000000,"pid":1,"msg":"Connection retry"}'
    const text = `${log}\n${accounts.map((each) => JSON.stringify(each)).join('')}\n{"account":"ee-cut","oauth2":{"refre`
    const plan = JSON.parse((await posthorn('emailengine', text, ['--dry-run', '--json'])).out)
    expect(plan.counts).toMatchObject({ will_import: 2, needs_consent: 2, will_fail: 1 })
    const run = await posthorn('emailengine', text)
    expect(run).toMatchObject({ code: 1, error: expect.stringContaining('2 imported, 2 need a new sign-in') })
    expect(run.out).toMatch(/^record 5 .* failed +no JSON object$/m)
    expect(await account('ee-gmail')).toMatchObject({ email: user, provider: 'gmail' })
    expect(google.refreshes('ee4@gmail.test')).toBe(0)
  })

  describe.skipIf(!dovecotAvailable())('with mailboxes', () => {
    let dovecot: Dovecot
    beforeAll(async () => {
      dovecot = await startDovecot()
      for (const name of ['grace', 'heidi']) await dovecot.addUser(`${name}@posthorn.test`, secret(`secret of ${name}`))
    })
    afterAll(() => dovecot?.stop())

    const imap = (name: string, pass: string, over: object = {}) => ({
      account: `ee-${name}`,
      email: `${name}@posthorn.test`,
      path: ['INBOX'],
      imap: {
        host: dovecot.host,
        port: dovecot.imapsPort,
        secure: true,
        tls: { rejectUnauthorized: false },
        auth: { user: `${name}@posthorn.test`, pass },
        ...over,
      },
      smtp: false,
    })

    it('imports IMAP accounts, and leaves one whose password is wrong to its user', async () => {
      const starttls = { port: dovecot.imapPort, secure: false }
      const records = [
        imap('grace', 'secret of grace'),
        imap('heidi', 'secret of heidi', starttls),
        imap('ivan', secret('wrong password')),
      ]
      const { code, byId } = await imported('emailengine', records)
      expect(code).toBe(0)
      expect(byId['ee-grace']).toMatchObject({ status: 'imported' })
      expect(byId['ee-heidi']).toMatchObject({ status: 'imported' })
      expect(byId['ee-ivan']).toMatchObject({
        status: 'needs_consent',
        session: { provider: 'imap', email: 'ivan@posthorn.test', customUserId: 'ee-ivan' },
      })
      expect((await imported('emailengine', records)).byId['ee-grace']).toMatchObject({ status: 'already_connected' })
    })
  })
})

describe('import', () => {
  it('refuses a missing or unusable file before it calls the service', async () => {
    for (const [content, message] of [
      ['', 'contains no accounts'],
      ['[]', 'contains no accounts'],
      ['['.repeat(200), 'is no export of accounts'],
    ] as const) {
      const run = await posthorn('nylas', content, [], { url: 'http://127.0.0.1:1' })
      expect([content.slice(0, 3), run.code, run.error]).toEqual([
        content.slice(0, 3),
        2,
        expect.stringContaining(message),
      ])
    }
    const terminal = { out: () => {}, error: () => {} }
    expect(await cli(['import', 'nylas', join(folder, 'missing'), '--url', service.url, '--key', 'x'], terminal)).toBe(
      2,
    )
    expect(await cli(['import', 'nylas'], terminal)).toBe(2)
  })

  it('stops when the key is refused, and works with a key that may only write', async () => {
    const record = { id: 'k-1', provider: 'google', email: 'k1@gmail.test' }
    expect(await posthorn('nylas', JSON.stringify(record), [], { key: 'wrong' })).toMatchObject({ code: 1, out: '' })
    const client = api(service.url, service.key)
    const { key } = (await client.post('/api-keys', { name: 'import', scopes: ['read', 'write'] })).json
    const token = await googleToken('k1@gmail.test')
    const content = JSON.stringify({ ...record, settings: { refresh_token: token } })
    expect(await posthorn('nylas', content, [], { key })).toMatchObject({ code: 0, error: '1 imported.' })
    const readOnly = (await client.post('/api-keys', { name: 'read', scopes: ['read'] })).json.key
    const other = JSON.stringify({ ...record, id: 'k-2', settings: { refresh_token: token } })
    expect(await posthorn('nylas', other, [], { key: readOnly })).toMatchObject({
      code: 1,
      error: expect.stringContaining('Pass another key'),
    })
  })
})
