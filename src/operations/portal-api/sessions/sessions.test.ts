import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { testServer } from '../../../../test/kit/http/server.ts'
import { TEST_KEYS } from '../../../../test/kit/service/composition.ts'
import { sealer } from '../../../platform/crypto/seal.ts'
import type { Db } from '../../../platform/db/index.ts'
import { combineAuthenticators, sentKey } from '../../../platform/http/index.ts'
import { silentLog } from '../../../platform/log/index.ts'
import { fixedClock } from '../../../platform/time/clock.ts'
import { isoTime } from '../../../platform/time/time.ts'
import { adminSessionRoutes, adminSessions, purgeAdminSessions, SESSION_MS } from './index.ts'

const CREDENTIALS = { username: 'admin', password: 'correct horse battery' }
const START_MS = Date.parse('2026-06-01T00:00:00Z')
const MINUTE_MS = 60_000
const PATH = '/admin/session'

interface InstanceOptions {
  clock?: ReturnType<typeof fixedClock>
  credentials?: typeof CREDENTIALS
  publicUrl?: string
}

/** One of several instances on a database, with a route of each access. */
function instance(db: Db, options: InstanceOptions = {}) {
  const { clock = fixedClock(START_MS), credentials = CREDENTIALS, publicUrl = 'http://localhost:8080' } = options
  const sessions = adminSessions({
    db,
    clock,
    credentials,
    publicUrl,
    log: silentLog,
    sealer: sealer(TEST_KEYS),
  })
  const keys = {
    authenticate: async (request: Parameters<typeof sentKey>[0]) =>
      sentKey(request) === 'key' ? { owner: 'service', scopes: ['read'] as const } : undefined,
  }
  const app = testServer({ authenticator: combineAuthenticators(keys, sessions), trustedProxies: ['loopback'] })
  adminSessionRoutes(app, { sessions, log: silentLog, transaction: (body) => db.transaction(body) })
  for (const access of ['key:admin', 'open:write', 'public'] as const) {
    const url = `/${access.replace(':', '-')}`
    for (const method of ['GET', 'POST', 'DELETE'] as const) {
      app.route({ method, url, config: { access }, handler: async ({ caller }) => ({ owner: caller?.owner ?? null }) })
    }
  }
  closing({ close: () => app.close().then(sessions.stop) })

  const call = async (
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    headers: Record<string, string> = {},
    payload?: object,
  ) => {
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
    return {
      status: response.statusCode,
      json: response.json(),
      cookies: [response.headers['set-cookie'] ?? []].flat(),
    }
  }
  /** Each call comes from another address, unless one is given. */
  let addresses = 0
  const signIn = (fields = {}, headers: Record<string, string> = {}) => {
    addresses += 1
    const from = { 'x-forwarded-for': `203.0.113.${addresses}`, ...headers }
    return call('POST', PATH, from, { ...credentials, ...fields })
  }
  return { sessions, clock, call, signIn }
}

const pair = (cookie = '') => cookie.split(';')[0] ?? ''

/** The headers of a page of the portal. */
async function signedIn({ signIn }: ReturnType<typeof instance>) {
  const { json, cookies } = await signIn()
  const cookie = { cookie: pair(cookies[0]) }
  return { cookie, both: { ...cookie, 'x-csrf-token': String(json.csrfToken) } }
}

describeEachDatabase('a session of the portal', (open) => {
  it('opens every route with its cookie, and changes with the CSRF token, too', async () => {
    const portal = instance(await open())
    const { call } = portal
    const { cookie, both } = await signedIn(portal)
    expect((await call('GET', '/key-admin')).status).toBe(401)
    expect((await call('GET', '/key-admin', cookie)).json).toEqual({ owner: 'admin:admin' })
    for (const method of ['POST', 'DELETE'] as const) {
      for (const wrong of [{}, { 'x-csrf-token': 'x' }, { 'x-csrf-token': '' }]) {
        const refused = await call(method, '/key-admin', { ...cookie, ...wrong })
        expect([refused.status, refused.json.error.code]).toEqual([403, 'csrf_failed'])
      }
      expect((await call(method, '/key-admin', { 'x-csrf-token': both['x-csrf-token'] })).status).toBe(401)
      expect((await call(method, '/key-admin', both)).status).toBe(200)
    }
    expect((await call('GET', '/key-admin', { ...both, authorization: 'Bearer key' })).status).toBe(403)
    const wrongMethod = async (headers: object) => (await call('POST', '/admin/sessions', { ...headers })).status
    expect([await wrongMethod(cookie), await wrongMethod(both)]).toEqual([401, 405])
  })

  it('says who is signed in and when it ends', async () => {
    const portal = instance(await open())
    const { json, cookies } = await portal.signIn()
    const expiresAt = isoTime(START_MS + 30 * MINUTE_MS)
    expect(json).toEqual({
      success: true,
      username: 'admin',
      csrfToken: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt,
    })
    expect((await portal.call('GET', PATH, { cookie: pair(cookies[0]) })).json).toEqual(json)
    for (const headers of [{}, { authorization: 'Bearer key' }] as const) {
      expect((await portal.call('GET', PATH, headers)).status).toBe(401)
    }
  })

  it('has cookies for this service only, which scripts and other sites cannot use', async () => {
    const db = await open()
    const [session = '', browser = ''] = (await instance(db).signIn()).cookies
    expect(session).toMatch(/^posthorn_admin_[0-9a-f]{8}=[\w-]{86}; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(browser).toMatch(/; Max-Age=15552000; Path=\/admin\/session; HttpOnly; SameSite=Strict$/)
    const elsewhere = (await instance(db, { publicUrl: 'https://app.example/mail' }).signIn()).cookies
    expect(elsewhere[0]).toMatch(/; Path=\/mail; HttpOnly; SameSite=Strict; Secure$/)
    expect(elsewhere[1]).toMatch(/; Path=\/mail\/admin\/session; HttpOnly; SameSite=Strict; Secure$/)
    expect(pair(elsewhere[0]).split('=')[0]).not.toBe(pair(session).split('=')[0])
  })

  it('lets an operator use public pages as a guest', async () => {
    const portal = instance(await open())
    const { cookie, both } = await signedIn(portal)
    const readOwner = async (method: 'GET' | 'POST', headers: Record<string, string>) =>
      (await portal.call(method, '/open-write', headers)).json.owner
    expect(await readOwner('POST', cookie)).toBe(null)
    expect(await readOwner('POST', both)).toBe('admin:admin')
    expect(await readOwner('GET', cookie)).toBe('admin:admin')
    expect(await readOwner('GET', { cookie: `${cookie.cookie}x` })).toBe(null)
    expect((await portal.call('POST', '/public', cookie)).json.owner).toBe(null)
  })

  it('ends after 30 minutes without use, and after 12 hours', async () => {
    const portal = instance(await open())
    const { call, clock, sessions } = portal
    const { cookie } = await signedIn(portal)
    const use = async (headers: Record<string, string> = {}) => {
      const { status } = await call('GET', '/key-admin', { ...cookie, ...headers })
      await sessions.stop()
      return status
    }
    for (let minutes = 0; minutes < 12 * 60 - 20; minutes += 20) {
      clock.advance(20 * MINUTE_MS)
      expect(await use()).toBe(200)
    }
    clock.advance(20 * MINUTE_MS)
    expect(await use()).toBe(401)

    const idle = await signedIn(portal)
    clock.advance(29 * MINUTE_MS)
    expect((await call('GET', '/key-admin', { ...idle.cookie, 'x-background': '1' })).status).toBe(200)
    await sessions.stop()
    clock.advance(MINUTE_MS)
    expect((await call('GET', '/key-admin', idle.cookie)).status).toBe(401)
  })

  it('is valid on all replicas, and ends on all of them', async () => {
    const db = await open()
    const [first, second] = [instance(db), instance(db)]
    const [one, two] = [await signedIn(first), await signedIn(first)]
    const statuses = async () =>
      Promise.all([one, two].map(async ({ cookie }) => (await second.call('GET', PATH, cookie)).status))
    expect(await statuses()).toEqual([200, 200])
    const left = await first.call('DELETE', PATH, one.both)
    expect(pair(left.cookies[0])).toMatch(/^posthorn_admin_[0-9a-f]{8}=$/)
    expect(await statuses()).toEqual([401, 200])
    expect((await second.call('DELETE', '/admin/sessions', two.cookie)).status).toBe(403)
    expect((await second.call('DELETE', '/admin/sessions', two.both)).status).toBe(200)
    expect(await statuses()).toEqual([401, 401])
  })

  it('ends when user name or password change, and is no help to guess them', async () => {
    const db = await open()
    const { cookie } = await signedIn(instance(db))
    const rows = JSON.stringify(await db.read.selectFrom('adminSessions').selectAll().execute())
    expect(rows).not.toContain(cookie.cookie.split('=')[1]?.slice(0, 43))
    for (const changed of [{ password: 'another password' }, { username: 'root' }]) {
      const later = instance(db, { credentials: { ...CREDENTIALS, ...changed } })
      expect((await later.call('GET', PATH, cookie)).status).toBe(401)
    }
    expect((await instance(db).call('GET', PATH, cookie)).status).toBe(200)
  })

  it('is deleted after its longest lifetime', async () => {
    const db = await open()
    const portal = instance(db)
    for (let count = 0; count < 3; count += 1) await portal.signIn()
    const purge = (afterMs: number) =>
      db.transaction((tx) => purgeAdminSessions(tx, START_MS + afterMs - SESSION_MS, 2))
    expect(await purge(SESSION_MS)).toBe(0)
    expect([await purge(SESSION_MS + 1), await purge(SESSION_MS + 1)]).toEqual([2, 1])
    expect(await db.read.selectFrom('adminSessions').selectAll().execute()).toEqual([])
  })
})

describeEachDatabase('a sign-in to the portal', (open) => {
  it('needs the right user name and password', async () => {
    const { signIn } = instance(await open())
    for (const wrong of [{ username: 'Admin' }, { password: 'x' }, { username: 'x', password: 'x' }]) {
      const { status, json, cookies } = await signIn(wrong)
      expect([status, json.error.code, cookies]).toEqual([401, 'unauthorized', []])
      expect(json.error.message).toBe('The user name or the password is wrong.')
    }
    for (const path of ['username', 'password']) {
      expect((await signIn({ [path]: undefined })).json.error.details[0].path).toBe(`body.${path}`)
    }
  })

  it('is limited per address', async () => {
    const { signIn } = instance(await open())
    const from = { 'x-forwarded-for': '198.51.100.7' }
    for (let count = 0; count < 20; count += 1) expect((await signIn({ username: `${count}` }, from)).status).toBe(401)
    expect((await signIn({}, from)).status).toBe(429)
    expect((await signIn()).status).toBe(200)
  })

  it('is limited per user name over all addresses, except for a browser that signed in before', async () => {
    const portal = instance(await open())
    const browser = pair((await portal.signIn()).cookies[1])
    for (let count = 0; count < 29; count += 1) expect((await portal.signIn({ password: 'guess' })).status).toBe(401)
    expect((await portal.signIn()).status).toBe(429)
    for (const cookie of [browser.slice(0, -1), `${browser}x`, browser.replace('browser', 'admin')]) {
      expect((await portal.signIn({}, { cookie })).status).toBe(429)
    }
    const again = await portal.signIn({}, { cookie: browser })
    expect([again.status, pair(again.cookies[1])]).toEqual([200, browser])
    for (let count = 0; count < 29; count += 1) await portal.signIn({ password: 'guess' }, { cookie: browser })
    expect((await portal.signIn({}, { cookie: browser })).status).toBe(429)
  })
})
