import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database.ts'
import { BROWSER_ACCEPT, type Hosted, IMAP_FIELDS, imapForm, serveHosted } from '../../../../test/kit/hosted.ts'
import { loginAt } from '../../../../test/kit/oauth.ts'
import type { Db } from '../../../infra/db/index.ts'
import { fixedClock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { purgeAuthSessions } from '../index.ts'

const START = Date.parse('2026-03-01T12:00:00Z')
const MINUTE = 60_000
const DAY = 1440 * MINUTE

describeEachDatabase('sessions of hosted authentication', (open) => {
  const clock = fixedClock(START)
  let db: Db
  let hosted: Hosted
  beforeEach(async () => {
    db = await open()
    hosted = await serveHosted(db, { clock })
  })
  afterEach(() => hosted.close())

  const create = (json?: unknown) => hosted.call('/auth/sessions', { key: true, method: 'POST', json })
  const errorOf = async (answer: Response) => {
    const { error, success } = (await answer.json()) as {
      success: boolean
      error: { code: string; details: { path: string }[] }
    }
    return { status: answer.status, success, code: error.code, paths: error.details.map(({ path }) => path) }
  }

  it('are created with a code of 256 bits, the link, the expiry and the hints', async () => {
    const body = {
      provider: 'imap',
      email: 'ada@example.com',
      redirectUri: 'https://app.example/',
      expiresInMinutes: 60,
    }
    const answer = await create(body)
    const session = (await answer.json()) as Record<string, string>
    expect(answer.status).toBe(200)
    expect(Buffer.from(session.code ?? '', 'base64url')).toHaveLength(32)
    expect(session).toEqual({
      code: session.code,
      authUrl: `${hosted.url}/auth/authorize?session=${session.code}`,
      expiresAt: new Date(clock.now() + 60 * MINUTE).toISOString(),
      provider: 'imap',
      email: 'ada@example.com',
    })
  })

  it('expire after 30 minutes unless told otherwise, and know neither provider nor email', async () => {
    const session = (await (await create({ redirectUri: 'https://app.example/' })).json()) as Record<string, unknown>
    expect(session).toMatchObject({
      expiresAt: new Date(clock.now() + 30 * MINUTE).toISOString(),
      provider: null,
      email: null,
    })
  })

  it('leave only the hash of their code in the database', async () => {
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
  ])('are refused with %j', async (part, path) => {
    const refused = await errorOf(await create({ redirectUri: 'https://app.example/', ...part }))
    expect(refused).toEqual({ status: 400, success: false, code: 'validation_failed', paths: [path] })
  })

  it('need a redirect target: their own, or the setting, which also makes the body optional', async () => {
    for (const body of [{}, undefined]) {
      expect(await errorOf(await create(body))).toMatchObject({ status: 400, code: 'redirect_missing' })
    }
    const withSetting = await serveHosted(await open(), { redirectUrl: 'https://setting.example/' })
    expect((await withSetting.call('/auth/sessions', { key: true, method: 'POST' })).status).toBe(200)
    await withSetting.close()
  })

  it('need the key to be created and read', async () => {
    const { code } = await hosted.session()
    for (const answer of [
      await hosted.call('/auth/sessions', { json: {} }),
      await hosted.call(`/auth/sessions/${code}`),
    ]) {
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    }
  })

  it('are refused when the licence is full, before a link goes out', async () => {
    const full = await serveHosted(await open(), {
      licence: { check: () => Promise.reject(new AppError('licence_limit')) },
    })
    const answer = await full.call('/auth/sessions', { key: true, json: { redirectUri: 'https://app.example/' } })
    expect(await errorOf(answer)).toMatchObject({ status: 403, code: 'licence_limit' })
    await full.close()
  })

  it('tell what became of them, and are unknown under any other code', async () => {
    const { code } = await hosted.session({ provider: 'imap', email: 'ada@example.com' })
    expect(await hosted.status(code)).toEqual({
      status: 'pending',
      provider: 'imap',
      email: 'ada@example.com',
      accountId: null,
      failureCode: null,
      expiresAt: new Date(clock.now() + 30 * MINUTE).toISOString(),
    })
    expect(await errorOf(await hosted.call('/auth/sessions/other', { key: true }))).toMatchObject({ status: 404 })
  })

  it('expire to the millisecond, for every way of using them', async () => {
    const { code, authUrl } = await hosted.session({ expiresInMinutes: 1 })
    const opened = await hosted.open(authUrl)
    clock.advance(MINUTE - 1)
    expect((await hosted.open(authUrl)).status).toBe(200)
    clock.advance(1)
    expect(await hosted.status(code)).toMatchObject({ status: 'expired' })
    const form = { session: code, state: opened.state }
    const json = { ...form, ...IMAP_FIELDS }
    for (const answer of [
      await hosted.call(authUrl, { headers: { accept: 'application/json' } }),
      await hosted.call('/auth/authorize', { json }),
      await hosted.call('/auth/authorize/imap', { json, headers: { accept: 'application/json' } }),
      await hosted.call('/auth/authorize/imap/folders', { json }),
      await hosted.call(`/auth/sessions/${code}/start`, { json: { provider: 'imap', state: 'x' } }),
    ]) {
      expect(answer.status).toBe(410)
    }
    const page = await hosted.call(authUrl, { headers: { accept: BROWSER_ACCEPT } })
    expect([page.status, await page.text()]).toEqual([410, expect.stringContaining('This link has expired')])
    expect(hosted.mail.attempts).toHaveLength(0)
  })

  it('link nothing when they expire while the mail server is asked', async () => {
    const { code, authUrl } = await hosted.session({ expiresInMinutes: 1 })
    const opened = await hosted.open(authUrl)
    hosted.mail.beforeAnswer = async () => clock.advance(MINUTE)
    const answer = await hosted.call('/auth/authorize/imap', imapForm(code, opened))
    expect([answer.status, await hosted.accountCount()]).toEqual([410, 0])
  })

  it('stay completed after their time', async () => {
    const { code, authUrl } = await hosted.session()
    await hosted.call('/auth/authorize/imap', imapForm(code, await hosted.open(authUrl)))
    clock.advance(DAY)
    expect(await hosted.status(code)).toMatchObject({ status: 'completed' })
  })

  it('are purged a while after they ended, many at a time, and no others', async () => {
    for (let index = 0; index < 3; index += 1) await hosted.session()
    clock.advance(8 * DAY)
    const { code } = await hosted.session()
    const purge = () => db.transaction((tx) => purgeAuthSessions(tx, clock.now() - 7 * DAY, 2))
    expect([await purge(), await purge(), await purge()]).toEqual([true, false, false])
    expect(await hosted.status(code)).toMatchObject({ status: 'pending' })
  })
})

describeEachDatabase('starting a session from a screen of the application', (open) => {
  let hosted: Hosted
  beforeEach(async () => {
    hosted = await serveHosted(await open(), {
      logins: { gmail: loginAt('https://accounts.example')('gmail') },
    })
  })
  afterEach(() => hosted.close())

  const start = (code: string, json: Record<string, unknown>, key = false) =>
    hosted.call(`/auth/sessions/${code}/start`, { json, key })

  it('answers the hosted form for imap, opened by the session or by the key', async () => {
    const { code } = await hosted.session()
    for (const key of [false, true]) {
      const answer = await start(code, { provider: 'imap', state: 'mine', email: 'ada@gmx.de' }, key)
      const body = (await answer.json()) as Record<string, string>
      expect(body).toMatchObject({ success: true, provider: 'imap', state: 'mine' })
      expect(body.authorizationUrl).toBe(`${hosted.url}/auth/authorize?session=${code}&state=mine`)
    }
    expect(await hosted.status(code)).toMatchObject({ status: 'started', provider: 'imap', email: 'ada@gmx.de' })
    const form = await hosted.open(`/auth/authorize?session=${code}&state=mine`)
    expect(form.page).toContain('value="imap.gmx.net"')
  })

  it('answers the consent screen for a provider that has one, with the state of that address', async () => {
    const { code } = await hosted.session({ email: 'hint@gmail.com', forceConsent: true })
    const answer = await start(code, { provider: 'gmail', state: 'mine' })
    const body = (await answer.json()) as Record<string, string>
    expect(body).toMatchObject({ success: true, provider: 'gmail' })
    const query = new URL(body.authorizationUrl ?? '').searchParams
    expect(query.get('login_hint')).toBe('hint@gmail.com')
    expect(query.get('prompt')).toBe('consent')
    expect(body.state).toBe(query.get('state'))
    expect(body.state).not.toBe('mine')
  })

  it('refuses what is not set up, another provider than the session’s, and incomplete bodies', async () => {
    const { code } = await hosted.session()
    const { code: fixed } = await hosted.session({ provider: 'gmail' })
    const refused = async (answer: Response) => [
      answer.status,
      ((await answer.json()) as { error: { code: string } }).error.code,
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

  it('binds the state of the first JSON call for all that follow', async () => {
    const { code } = await hosted.session()
    expect((await start(code, { provider: 'imap', state: 'first' })).status).toBe(200)
    const other = { session: code, state: 'second', ...IMAP_FIELDS }
    for (const answer of [
      await start(code, { provider: 'imap', state: 'second' }),
      await hosted.call('/auth/authorize', { json: other, headers: { accept: 'application/json' } }),
      await hosted.call('/auth/authorize/imap', { json: other, headers: { accept: 'application/json' } }),
      await hosted.call('/auth/authorize/imap/folders', { json: other }),
    ]) {
      expect(answer.status).toBe(403)
      expect(await answer.json()).toMatchObject({ error: { code: 'csrf_failed' } })
    }
    const same = { ...other, state: 'first' }
    expect((await hosted.call('/auth/authorize/imap', { json: same })).status).toBe(200)
    expect(await hosted.status(code)).toMatchObject({ status: 'completed' })
  })
})
