import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  BROWSER_ACCEPT,
  type Hosted,
  IMAP_FIELDS,
  imapForm,
  serveHosted,
} from '../../../../test/kit/accounts/hosted.ts'
import { loginAt } from '../../../../test/kit/accounts/oauth.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { fixedClock } from '../../../platform/time/clock.ts'
import { purgeAuthSessions } from '../feature.ts'

const START = Date.parse('2026-03-01T12:00:00Z')
const MINUTE = 60_000
const DAY = 1440 * MINUTE

describeEachDatabase('auth sessions', (open) => {
  const clock = fixedClock(START)
  let db: Db
  let hosted: Hosted
  beforeEach(async () => {
    db = await open()
    hosted = await serveHosted(db, { clock })
  })
  afterEach(() => hosted.close())

  const create = (json?: unknown) => hosted.call('/auth/sessions', { key: true, method: 'POST', json })
  const readError = async (response: Response) => {
    const { error, success } = (await response.json()) as {
      success: boolean
      error: { code: string; details: { path: string }[] }
    }
    return { status: response.status, success, code: error.code, paths: error.details.map(({ path }) => path) }
  }

  it('have a 256-bit code, a link, an expiry and the given hints', async () => {
    const body = {
      provider: 'imap',
      email: 'ada@example.com',
      redirectUri: 'https://app.example/',
      expiresInMinutes: 60,
    }
    const response = await create(body)
    const session = (await response.json()) as Record<string, string>
    expect(response.status).toBe(200)
    expect(Buffer.from(session.code ?? '', 'base64url')).toHaveLength(32)
    expect(session).toEqual({
      code: session.code,
      authUrl: `${hosted.url}/auth/authorize?session=${session.code}`,
      expiresAt: new Date(clock.now() + 60 * MINUTE).toISOString(),
      provider: 'imap',
      email: 'ada@example.com',
    })
  })

  it('expire after 30 minutes by default, without provider and email', async () => {
    const session = (await (await create({ redirectUri: 'https://app.example/' })).json()) as Record<string, unknown>
    expect(session).toMatchObject({
      expiresAt: new Date(clock.now() + 30 * MINUTE).toISOString(),
      provider: null,
      email: null,
    })
  })

  it('store only the hash of their code', async () => {
    const { code } = await hosted.session()
    const rows = await db.read.selectFrom('authSessions').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(code)
  })

  it.each([
    [{ expiresInMinutes: 0 }, 'body.expiresInMinutes'],
    [{ expiresInMinutes: 1441 }, 'body.expiresInMinutes'],
    [{ expiresInMinutes: '30' }, 'body.expiresInMinutes'],
    [{ provider: 'pop3' }, 'body.provider'],
    [{ email: 'nobody' }, 'body.email'],
    [{ forceConsent: 'yes' }, 'body.forceConsent'],
    [{ customUserId: '' }, 'body.customUserId'],
    [{ redirectUri: 'javascript:alert(1)' }, 'body.redirectUri'],
    [{ redirectUri: '/relative' }, 'body.redirectUri'],
  ])('reject %j', async (part, path) => {
    const refused = await readError(await create({ redirectUri: 'https://app.example/', ...part }))
    expect(refused).toEqual({ status: 400, success: false, code: 'validation_failed', paths: [path] })
  })

  it('require a redirect URI in the body or the setting; with the setting, the body is optional', async () => {
    for (const body of [{}, undefined]) {
      expect(await readError(await create(body))).toMatchObject({ status: 400, code: 'redirect_missing' })
    }
    const withSetting = await serveHosted(await open(), { redirectUrl: 'https://setting.example/' })
    expect((await withSetting.call('/auth/sessions', { key: true, method: 'POST' })).status).toBe(200)
    await withSetting.close()
  })

  it('require the key for creating and reading', async () => {
    const { code } = await hosted.session()
    for (const response of [
      await hosted.call('/auth/sessions', { json: {} }),
      await hosted.call(`/auth/sessions/${code}`),
    ]) {
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    }
  })

  it.each([
    ['gmail', 'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET'],
    ['microsoft', 'MICROSOFT_CLIENT_ID and MICROSOFT_CLIENT_SECRET'],
  ])('are refused for %s while it is not configured, with its settings', async (provider, settings) => {
    const response = await create({ redirectUri: 'https://app.example/', provider })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        error: {
          code: 'validation_failed',
          details: [{ path: 'body.provider', message: `is not configured; set ${settings}` }],
        },
      },
    ])
    expect(await db.read.selectFrom('authSessions').selectAll().execute()).toEqual([])
  })

  it('are created at the cap of the licence for existing accounts, and refused for new ones where that is known', async () => {
    let full = false
    const licence = { check: () => (full ? Promise.reject(new AppError('licence_limit')) : Promise.resolve()) }
    const limited = await serveHosted(await open(), {
      licence,
      accounts: { licence },
      logins: { gmail: loginAt('https://accounts.example')('gmail') },
    })
    const { email } = IMAP_FIELDS
    const connect = async (session: Record<string, unknown>, fields: Record<string, string> = {}) => {
      const { code, authUrl } = await limited.session(session)
      const response = await limited.call('/auth/authorize/imap', imapForm(code, await limited.open(authUrl), fields))
      return { status: response.status, accountId: (await limited.status(code)).accountId }
    }
    const plain = await connect({})
    const named = await connect({ customUserId: 'user-7' })
    full = true
    const readStatus = async (hints: Record<string, unknown>) => {
      const json = { redirectUri: 'https://app.example/', ...hints }
      return (await limited.call('/auth/sessions', { key: true, json })).status
    }
    const accounts = [
      {},
      { email },
      { email: email.toUpperCase() },
      { customUserId: 'user-7' },
      { provider: 'imap', email },
    ]
    for (const hints of [...accounts, { customUserId: 'user-7', email: 'alias@example.com' }]) {
      expect([hints, await readStatus(hints)]).toEqual([hints, 200])
    }
    const unknown = [{ email: 'new@example.com' }, { customUserId: 'user-8' }, { customUserId: 'user-8', email }]
    for (const hints of [...unknown, { provider: 'gmail', email }]) {
      expect([hints, await readStatus(hints)]).toEqual([hints, 403])
    }
    expect(await connect({ email })).toEqual({ status: 200, accountId: plain.accountId })
    expect(await connect({ customUserId: 'user-7' })).toEqual({ status: 200, accountId: named.accountId })
    expect(await connect({}, { username: 'someone-else' })).toEqual({ status: 403, accountId: null })
    await limited.close()
  })

  it('return their status by code, and 404 for an unknown code', async () => {
    const { code } = await hosted.session({ provider: 'imap', email: 'ada@example.com' })
    expect(await hosted.status(code)).toEqual({
      status: 'pending',
      provider: 'imap',
      email: 'ada@example.com',
      accountId: null,
      failureCode: null,
      failureReason: null,
      expiresAt: new Date(clock.now() + 30 * MINUTE).toISOString(),
    })
    expect(await readError(await hosted.call('/auth/sessions/other', { key: true }))).toMatchObject({ status: 404 })
  })

  it('expire to the millisecond on every route', async () => {
    const { code, authUrl } = await hosted.session({ expiresInMinutes: 1 })
    const opened = await hosted.open(authUrl)
    clock.advance(MINUTE - 1)
    expect((await hosted.open(authUrl)).status).toBe(200)
    clock.advance(1)
    expect(await hosted.status(code)).toMatchObject({ status: 'expired' })
    const form = { session: code, state: opened.state }
    const json = { ...form, ...IMAP_FIELDS }
    for (const response of [
      await hosted.call(authUrl, { headers: { accept: 'application/json' } }),
      await hosted.call('/auth/authorize', { json }),
      await hosted.call('/auth/authorize/imap', { json, headers: { accept: 'application/json' } }),
      await hosted.call('/auth/authorize/imap/folders', { json }),
      await hosted.call(`/auth/sessions/${code}/start`, { json: { provider: 'imap', state: 'x' }, key: true }),
    ]) {
      expect(response.status).toBe(410)
    }
    const page = await hosted.call(authUrl, { headers: { accept: BROWSER_ACCEPT } })
    expect([page.status, await page.text()]).toEqual([410, expect.stringContaining('This link has expired')])
    expect(hosted.mail.attempts).toHaveLength(0)
  })

  it('link nothing when they expire during the sign-in', async () => {
    const { code, authUrl } = await hosted.session({ expiresInMinutes: 1 })
    const opened = await hosted.open(authUrl)
    hosted.mail.beforeResponse = async () => clock.advance(MINUTE)
    const response = await hosted.call('/auth/authorize/imap', imapForm(code, opened))
    expect([response.status, await hosted.accountCount()]).toEqual([410, 0])
  })

  it('stay completed after their expiry', async () => {
    const { code, authUrl } = await hosted.session()
    await hosted.call('/auth/authorize/imap', imapForm(code, await hosted.open(authUrl)))
    clock.advance(DAY)
    expect(await hosted.status(code)).toMatchObject({ status: 'completed' })
  })

  it('are deleted in batches once expired for long enough; newer ones stay', async () => {
    for (let index = 0; index < 3; index += 1) await hosted.session()
    clock.advance(8 * DAY)
    const { code } = await hosted.session()
    const purge = () => db.transaction((tx) => purgeAuthSessions(tx, clock.now() - 7 * DAY, 2))
    expect([await purge(), await purge(), await purge()]).toEqual([2, 1, 0])
    expect(await hosted.status(code)).toMatchObject({ status: 'pending' })
  })
})

describeEachDatabase('starting a session from the application', (open) => {
  let hosted: Hosted
  beforeEach(async () => {
    hosted = await serveHosted(await open(), {
      logins: { gmail: loginAt('https://accounts.example')('gmail') },
    })
  })
  afterEach(() => hosted.close())

  const start = (code: string, json: Record<string, unknown>, key = true) =>
    hosted.call(`/auth/sessions/${code}/start`, { json, key })

  it('requires the key, or the cookie of the hosted page with the same state', async () => {
    const { code, authUrl } = await hosted.session()
    const { code: otherCode } = await hosted.session()
    const mine = await hosted.open(`${authUrl}&state=mine`)
    const startWith = (path: string, json: Record<string, unknown>, headers: Record<string, string>) =>
      hosted.call(`/auth/sessions/${path}/start`, { json, headers })
    for (const provider of ['gmail', 'imap']) {
      for (const response of [
        await startWith(code, { provider, state: 'mine' }, {}),
        await startWith(code, { provider, state: 'mine' }, { authorization: 'Bearer wrong' }),
        await startWith(code, { provider, state: 'other' }, { cookie: mine.cookie }),
        await startWith(otherCode, { provider, state: 'mine' }, { cookie: mine.cookie }),
        await startWith('unknown', { provider, state: 'mine' }, {}),
      ]) {
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([
          401,
          expect.stringMatching(/^Bearer/),
        ])
        expect(await response.json()).toMatchObject({ success: false, error: { code: 'unauthorized' } })
      }
    }
    expect(await hosted.status(code)).toMatchObject({ status: 'pending', provider: null })
    const admitted = await startWith(code, { provider: 'gmail', state: 'mine' }, { cookie: mine.cookie })
    expect([admitted.status, await admitted.json()]).toMatchObject([200, { provider: 'gmail' }])
  })

  it('returns the hosted form for imap', async () => {
    const { code } = await hosted.session()
    const response = await start(code, { provider: 'imap', state: 'mine', email: 'ada@gmx.de' })
    const body = (await response.json()) as Record<string, string>
    expect(body).toMatchObject({ success: true, provider: 'imap', state: 'mine' })
    expect(body.authorizationUrl).toBe(`${hosted.url}/auth/authorize?session=${code}&state=mine`)
    expect(await hosted.status(code)).toMatchObject({ status: 'started', provider: 'imap', email: 'ada@gmx.de' })
    const form = await hosted.open(`/auth/authorize?session=${code}&state=mine`)
    expect(form.page).toContain('value="imap.gmx.net"')
  })

  it('returns the consent URL and its state for an OAuth provider', async () => {
    const { code } = await hosted.session({ email: 'hint@gmail.com', forceConsent: true })
    const response = await start(code, { provider: 'gmail', state: 'mine' })
    const body = (await response.json()) as Record<string, string>
    expect(body).toMatchObject({ success: true, provider: 'gmail' })
    const query = new URL(body.authorizationUrl ?? '').searchParams
    expect(query.get('login_hint')).toBe('hint@gmail.com')
    expect(query.get('prompt')).toBe('consent')
    expect(body.state).toBe(query.get('state'))
    expect(body.state).not.toBe('mine')
  })

  it('rejects providers that are not set up or not allowed, and invalid bodies', async () => {
    const { code } = await hosted.session()
    const { code: fixed } = await hosted.session({ provider: 'gmail' })
    const refused = async (response: Response) => [
      response.status,
      ((await response.json()) as { error: { code: string } }).error.code,
    ]
    expect(await refused(await start(code, { provider: 'microsoft', state: 'x' }))).toEqual([400, 'validation_failed'])
    expect(await refused(await start(fixed, { provider: 'imap', state: 'x' }))).toEqual([400, 'validation_failed'])
    expect(await refused(await start(code, { provider: 'imap' }))).toEqual([400, 'validation_failed'])
    expect(await refused(await start(code, { provider: 'imap', state: '' }))).toEqual([400, 'validation_failed'])
    expect(await refused(await start(code, { provider: 'imap', state: 'x', email: 'no' }))).toEqual([
      400,
      'validation_failed',
    ])
    expect(await refused(await start('unknown', { provider: 'imap', state: 'x' }))).toEqual([404, 'not_found'])
    expect(await hosted.status(code)).toMatchObject({ status: 'pending', provider: null })
  })

  it('requires the state of the first JSON call in all later ones', async () => {
    const { code } = await hosted.session()
    expect((await start(code, { provider: 'imap', state: 'first' })).status).toBe(200)
    const other = { session: code, state: 'second', ...IMAP_FIELDS }
    for (const response of [
      await start(code, { provider: 'imap', state: 'second' }),
      await hosted.call('/auth/authorize', { json: other, headers: { accept: 'application/json' } }),
      await hosted.call('/auth/authorize/imap', { json: other, headers: { accept: 'application/json' } }),
      await hosted.call('/auth/authorize/imap/folders', { json: other }),
    ]) {
      expect(response.status).toBe(403)
      expect(await response.json()).toMatchObject({ error: { code: 'csrf_failed' } })
    }
    const same = { ...other, state: 'first' }
    expect((await hosted.call('/auth/authorize/imap', { json: same })).status).toBe(200)
    expect(await hosted.status(code)).toMatchObject({ status: 'completed' })
  })
})
