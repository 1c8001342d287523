import { afterEach, beforeEach, expect, it } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { loginAt, oauthLink } from '../../../test/kit/accounts/oauth.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { errorResponse, googleClaims, type OAuthServer, startOAuthServer } from '../../../test/servers/oauth-server.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { silentLog } from '../../platform/log/index.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { accountStore } from '../identity/store.ts'
import { RefreshTokenMissing } from '../index.ts'
import { revocations } from './revocation.ts'
import type { TokenTiming } from './tokens.ts'

describeEachDatabase('the tokens of an account', (open) => {
  let oauthServer: OAuthServer
  const sealing = sealer(parseKeyRing(generateKeyRing()))
  beforeEach(async () => {
    oauthServer = await startOAuthServer()
  })
  afterEach(() => oauthServer.close())

  /** One process among several on the same database. */
  const replica = (db: Db, tokenTiming: Partial<TokenTiming> = {}) => {
    const fixture = testAccounts(db, { sealer: sealing, login: loginAt(oauthServer.url), tokenTiming })
    return {
      ...fixture,
      db,
      async token(accountId: string, refused?: string): Promise<string> {
        const { accessToken } = await fixture.accounts.access(accountId)
        if (accessToken === undefined) throw new Error('the access has no tokens')
        return accessToken(refused)
      },
    }
  }

  async function connected(tokenTiming?: Partial<TokenTiming>) {
    const db = await open()
    const fixture = replica(db, tokenTiming)
    const account = await fixture.link(oauthLink(oauthServer.refreshToken()))
    return { db, fixture, account }
  }

  const lasting = { accessToken: 'lasting', expiresAt: Date.now() + 3_600_000, scopes: [] }

  it('returns the stored token while it is valid, and never exposes it', async () => {
    const { fixture, account } = await connected()
    const linked = await fixture.link(oauthLink(undefined, { tokens: lasting }))
    expect(linked.id).toBe(account.id)
    expect(await fixture.token(account.id)).toBe('lasting')
    expect(oauthServer.tokenRequests).toEqual([])
    const access = await fixture.accounts.access(account.id)
    expect(access.secrets).toEqual({})
    expect(JSON.stringify(await fixture.accounts.get(account.id))).not.toContain('lasting')
  })

  it('refreshes an expired token and shows the new expiry, without an event or a new version', async () => {
    const { db, fixture, account } = await connected()
    oauthServer.granted.scope = 'User.Read Mail.ReadWrite Calendars.Read'
    const before = await accountStore(db.read, db.dialect).get(account.id)
    const token = await fixture.token(account.id)
    expect(token).toMatch(/^access-/)
    const after = await accountStore(db.read, db.dialect).get(account.id)
    expect([after.version, after.accessVersion, after.updatedAt]).toEqual([
      before.version,
      before.accessVersion,
      before.updatedAt,
    ])
    expect((await fixture.events(account.id)).map(({ type }) => type)).toEqual(['account.connected'])
    const { tokens } = await fixture.accounts.get(account.id)
    expect(tokens).toMatchObject({ scopes: ['User.Read', 'Mail.ReadWrite', 'Calendars.Read'], hasRefreshToken: true })
    expect(Date.parse(tokens.expiresAt ?? '')).toBeGreaterThan(Date.now() + 3_500_000)
    expect(await fixture.token(account.id)).toBe(token)
    expect(oauthServer.tokenRequests).toHaveLength(1)
  })

  it('refreshes once for all callers of all replicas, and stores the rotated refresh token before use', async () => {
    const { db, fixture, account } = await connected()
    oauthServer.rotates = { graceMs: 0 }
    const replicas = [fixture, replica(db), replica(db)]
    const ask = () => Promise.all(replicas.flatMap((each) => Array.from({ length: 20 }, () => each.token(account.id))))
    const first = new Set(await ask())
    expect(first.size).toBe(1)
    expect(oauthServer.tokenRequests).toHaveLength(1)
    const [token] = first
    const refused = await Promise.all(
      replicas.flatMap((each) => Array.from({ length: 20 }, () => each.token(account.id, token))),
    )
    expect(new Set(refused).size).toBe(1)
    expect(refused).not.toContain(token)
    expect(oauthServer.tokenRequests).toHaveLength(2)
  })

  it('waits for a refresh in another process, and takes over if that process died', async () => {
    const { db, fixture, account } = await connected({ waitMs: 100, pollMs: 5 })
    const store = accountStore(db.read, db.dialect)
    await db.transaction((tx) => accountStore(tx, db.dialect).takeTokenLease(account.id, 'the dead', 60_000))
    await expect(fixture.token(account.id)).rejects.toMatchObject({ kind: 'unavailable', timedOut: true })
    expect(oauthServer.tokenRequests).toEqual([])
    await db.transaction((tx) => accountStore(tx, db.dialect).endTokenLease(account.id, 'the dead'))
    await db.transaction((tx) => accountStore(tx, db.dialect).takeTokenLease(account.id, 'the dead', 0))
    await eventually(async () => (await fixture.token(account.id)) !== '')
    expect(await store.get(account.id)).toMatchObject({ tokenLease: null, tokenLeaseUntil: null })
  })

  it('requires a new consent after invalid_grant, and sends no requests until a retry is requested', async () => {
    const { db, fixture, account } = await connected()
    oauthServer.nextResponses.push(errorResponse('invalid_grant'))
    await expect(fixture.token(account.id)).rejects.toMatchObject({ kind: 'auth_expired' })
    await db.transaction((tx) => fixture.accounts.setStatus(tx, account.id, 'auth_error', 'gone'))
    await expect(fixture.token(account.id)).rejects.toMatchObject({ kind: 'auth_expired', message: 'gone' })
    expect(oauthServer.tokenRequests).toHaveLength(1)
    await db.transaction((tx) => fixture.accounts.tryAgain(tx, account.id))
    expect(await fixture.token(account.id)).toMatch(/^access-/)
  })

  it.each(['gmail', 'microsoft'] as const)(
    'refuses tokens of another user at %s, and stores nothing of them',
    async (provider) => {
      const db = await open()
      const fixture = replica(db)
      const account = await fixture.link(oauthLink(oauthServer.refreshToken(), { provider }))
      const store = accountStore(db.read, db.dialect)
      const before = await store.get(account.id)
      oauthServer.rotates = { graceMs: 60_000 }
      oauthServer.user = { id: 'user-2', email: 'bob@example.com' }
      const expected = { kind: 'auth_expired', message: expect.stringContaining('another user') }
      await expect(fixture.token(account.id)).rejects.toMatchObject(expected)
      expect(await store.get(account.id)).toEqual(before)
      oauthServer.user = { id: 'user-1', email: 'renamed@example.com' }
      expect(await fixture.token(account.id)).toMatch(/^access-/)
    },
  )

  it('checks the user once per refresh, and at Google with the ID token when it names the access token', async () => {
    const db = await open()
    const fixture = replica(db)
    const { id } = await fixture.link(oauthLink(oauthServer.refreshToken(), { provider: 'gmail' }))
    const first = await fixture.token(id)
    expect([await fixture.token(id), oauthServer.bearers]).toEqual([first, [`Bearer ${first}`]])
    oauthServer.idTokenClaims = (accessToken) => googleClaims('user-1', accessToken)
    const second = await fixture.token(id, first)
    oauthServer.idTokenClaims = () => googleClaims('user-1', 'another access token')
    const third = await fixture.token(id, second)
    expect(oauthServer.bearers).toEqual([`Bearer ${first}`, `Bearer ${third}`])
    oauthServer.idTokenClaims = (accessToken) => googleClaims('user-2', accessToken)
    await expect(fixture.token(id, third)).rejects.toMatchObject({ kind: 'auth_expired' })
  })

  it.each([503, 401])(
    'keeps a rotated refresh token when the user cannot be read (%i), and uses no unchecked token',
    async (status) => {
      const { fixture, account } = await connected()
      oauthServer.rotates = { graceMs: 0 }
      oauthServer.nextUserStatuses.push(status)
      await expect(fixture.token(account.id)).rejects.toMatchObject({ kind: 'unavailable' })
      const later = replica(fixture.db)
      expect(await later.token(account.id)).toMatch(/^access-/)
      expect(oauthServer.tokenRequests).toHaveLength(2)
    },
  )

  it('treats provider errors as temporary, pauses, and uses a token that is still valid', async () => {
    const { fixture, account } = await connected()
    oauthServer.nextResponses.push({ ...errorResponse('x', 503), headers: { 'retry-after': '30' } })
    await expect(fixture.token(account.id)).rejects.toMatchObject({ kind: 'unavailable', retryAfterMs: 30_000 })
    await expect(fixture.token(account.id)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(oauthServer.tokenRequests).toHaveLength(1)
    // A token of 100 s is refreshed after half its life at the latest, and stays usable until it expires.
    const now = Date.now()
    const ageing = { accessToken: 'ageing', expiresAt: now + 100_000, refreshToken: 'r', scopes: [] }
    await fixture.link(oauthLink(undefined, { tokens: ageing }))
    oauthServer.nextResponses.push(errorResponse('x', 500), errorResponse('x', 500))
    expect(await fixture.token(account.id)).toBe('ageing')
    await expect(fixture.token(account.id, 'ageing')).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('requests tokens during a pause of the token endpoint when the pause is ended', async () => {
    const { fixture, account } = await connected()
    oauthServer.nextResponses.push({ ...errorResponse('x', 503), headers: { 'retry-after': '30' } })
    await expect(fixture.token(account.id)).rejects.toMatchObject({ kind: 'unavailable' })
    fixture.accounts.endTokenPause(account)
    expect(await fixture.token(account.id)).toMatch(/^access-/)
  })

  it('prefers the tokens of a new consent to those of a running refresh', async () => {
    const { fixture, account } = await connected()
    oauthServer.beforeResponse = async () => {
      oauthServer.beforeResponse = async () => {}
      await fixture.link(oauthLink('newer', { tokens: { ...lasting, refreshToken: 'newer' } }))
    }
    expect(await fixture.token(account.id)).toBe('lasting')
    oauthServer.nextResponses.push(errorResponse('invalid_grant'))
    await fixture.link(oauthLink('old'))
    oauthServer.beforeResponse = async () => {
      oauthServer.beforeResponse = async () => {}
      await fixture.link(oauthLink('newest', { tokens: { ...lasting, refreshToken: 'newest' } }))
    }
    expect(await fixture.token(account.id)).toBe('lasting')
  })

  it('stores the response of a process that outlived its lease, and reconnects the account', async () => {
    const { db, fixture: slow, account } = await connected({ leaseMs: 1 })
    oauthServer.rotates = { graceMs: 0 }
    let goOn = () => {}
    let isHeld = false
    oauthServer.beforeResponse = () => {
      oauthServer.beforeResponse = async () => {}
      isHeld = true
      return new Promise((resolve) => {
        goOn = resolve
      })
    }
    const token = slow.token(account.id)
    await eventually(() => isHeld)
    const other = replica(db)
    await expect(other.token(account.id)).rejects.toMatchObject({ kind: 'auth_expired' })
    await db.transaction((tx) => other.accounts.setStatus(tx, account.id, 'auth_error', 'gone'))
    goOn()
    expect(await other.accounts.get(account.id)).toMatchObject({ status: 'auth_error' })
    const got = await token
    expect(await other.token(account.id)).toBe(got)
    expect(await other.accounts.get(account.id)).toMatchObject({ status: 'connecting' })
  })

  it('refuses tokens for a deleted account and for an unconfigured provider', async () => {
    const { db, fixture, account } = await connected()
    const bare = testAccounts(db, { sealer: sealing })
    const { accessToken } = await bare.accounts.access(account.id)
    await expect(accessToken?.()).rejects.toMatchObject({ kind: 'rejected' })
    const access = await fixture.accounts.access(account.id)
    await db.transaction((tx) => fixture.accounts.remove(tx, account.id))
    await expect(access.accessToken?.()).rejects.toBeInstanceOf(AppError)
  })

  it('requires a refresh token, a new one or a stored one that is valid', async () => {
    const { db, fixture, account } = await connected()
    const again = { tokens: lasting }
    expect((await fixture.link(oauthLink(undefined, again))).tokens.hasRefreshToken).toBe(true)
    await db.transaction((tx) => fixture.accounts.setStatus(tx, account.id, 'auth_error', 'gone'))
    await expect(fixture.link(oauthLink(undefined, again))).rejects.toBeInstanceOf(RefreshTokenMissing)
    await expect(fixture.link(oauthLink(undefined, { ...again, providerUser: 'user-2' }))).rejects.toBeInstanceOf(
      RefreshTokenMissing,
    )
    const renewed = await fixture.link(oauthLink('r', { tokens: { ...lasting, refreshToken: 'r' } }))
    expect(renewed).toMatchObject({ id: account.id, status: 'connecting', statusReason: null })
  })

  it('revokes the grant once after the account is deleted, unless the user has another account', async () => {
    const db = await open()
    const fixture = replica(db)
    const refreshToken = oauthServer.refreshToken()
    const link = (customUserId: string) => fixture.link(oauthLink(refreshToken, { provider: 'gmail', customUserId }))
    const [first, second] = [await link('one'), await link('two')]
    const connectionTokens = { accessToken: () => Promise.reject(new Error('not part of this test')) }
    const login = loginAt(oauthServer.url)
    const { revoke } = revocations({ db, sealer: sealing, log: silentLog, login, connectionTokens })
    await db.transaction((tx) => fixture.accounts.remove(tx, first.id))
    await revoke(first.id)
    expect(oauthServer.revoked).toEqual([])
    await db.transaction((tx) => fixture.accounts.remove(tx, second.id))
    const { revocation } = await db.read
      .selectFrom('accountErasures')
      .select('revocation')
      .where('accountId', '=', second.id)
      .executeTakeFirstOrThrow()
    expect(revocation).not.toContain(refreshToken)
    await revoke(second.id)
    await revoke(second.id)
    expect(oauthServer.revoked).toEqual([refreshToken])
    await oauthServer.close()
    const third = await link('three')
    await db.transaction((tx) => fixture.accounts.remove(tx, third.id))
    await expect(revoke(third.id)).resolves.toBeUndefined()
  })

  it('never puts tokens into an error', async () => {
    const { fixture, account } = await connected()
    oauthServer.nextResponses.push({ status: 200, body: '{"access_token":"secret-access","token_type":1}' })
    const error = await fixture.token(account.id).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ProviderError)
    expect(JSON.stringify([String(error), error])).not.toContain('secret-access')
  })
})
