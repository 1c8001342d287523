import { afterEach, beforeEach, expect, it } from 'vitest'
import { accountsRoom } from '../../../test/kit/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { loginAt, oauthLink } from '../../../test/kit/oauth.ts'
import { refusal, type SignIn, startSignIn } from '../../../test/servers/sign-in.ts'
import type { Db } from '../../infra/db/index.ts'
import { silentLog } from '../../infra/log/index.ts'
import { AppError } from '../../lib/errors.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../lib/seal.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { RefreshTokenMissing, revoker } from './index.ts'
import { accountStore } from './store.ts'
import type { TokenTiming } from './tokens.ts'

describeEachDatabase('the tokens of an account', (open) => {
  let signIn: SignIn
  const sealing = sealer(parseKeyRing(generateKeyRing()))
  beforeEach(async () => {
    signIn = await startSignIn()
  })
  afterEach(() => signIn.close())

  /** One process among several on the same database. */
  const replica = (db: Db, tokenTiming: Partial<TokenTiming> = {}) => {
    const room = accountsRoom(db, { sealer: sealing, login: loginAt(signIn.url), tokenTiming })
    return {
      ...room,
      async token(accountId: string, refused?: string): Promise<string> {
        const { accessToken } = await room.accounts.access(accountId)
        if (accessToken === undefined) throw new Error('the access has no tokens')
        return accessToken(refused)
      },
    }
  }

  async function connected(tokenTiming?: Partial<TokenTiming>) {
    const db = await open()
    const room = replica(db, tokenTiming)
    const account = await room.link(oauthLink(signIn.refreshToken()))
    return { db, room, account }
  }

  const lasting = { accessToken: 'lasting', expiresAt: Date.now() + 3_600_000, scopes: [] }

  it('hands out the stored token while it works, and never shows it', async () => {
    const { room, account } = await connected()
    const linked = await room.link(oauthLink(undefined, { tokens: lasting }))
    expect(linked.id).toBe(account.id)
    expect(await room.token(account.id)).toBe('lasting')
    expect(signIn.tokenRequests).toEqual([])
    const access = await room.accounts.access(account.id)
    expect(access.secrets).toEqual({})
    expect(JSON.stringify(await room.accounts.get(account.id))).not.toContain('lasting')
  })

  it('refreshes what has run out, shows it in the API, and makes neither an event nor a version of it', async () => {
    const { db, room, account } = await connected()
    signIn.granted.scope = 'User.Read Mail.ReadWrite Calendars.Read'
    const before = await accountStore(db.read, db.dialect).get(account.id)
    const token = await room.token(account.id)
    expect(token).toMatch(/^access-/)
    const after = await accountStore(db.read, db.dialect).get(account.id)
    expect([after.version, after.accessVersion, after.updatedAt]).toEqual([
      before.version,
      before.accessVersion,
      before.updatedAt,
    ])
    expect((await room.events(account.id)).map(({ type }) => type)).toEqual(['account.connected'])
    const { tokens } = await room.accounts.get(account.id)
    expect(tokens).toMatchObject({ scopes: ['User.Read', 'Mail.ReadWrite', 'Calendars.Read'], hasRefreshToken: true })
    expect(Date.parse(tokens.expiresAt ?? '')).toBeGreaterThan(Date.now() + 3_500_000)
    expect(await room.token(account.id)).toBe(token)
    expect(signIn.tokenRequests).toHaveLength(1)
  })

  it('is refreshed once for every caller of every replica, with the rotated refresh token stored before use', async () => {
    const { db, room, account } = await connected()
    signIn.rotates = { graceMs: 0 }
    const rooms = [room, replica(db), replica(db)]
    const ask = () => Promise.all(rooms.flatMap((each) => Array.from({ length: 20 }, () => each.token(account.id))))
    const first = new Set(await ask())
    expect(first.size).toBe(1)
    expect(signIn.tokenRequests).toHaveLength(1)
    const [token] = first
    const refused = await Promise.all(
      rooms.flatMap((each) => Array.from({ length: 20 }, () => each.token(account.id, token))),
    )
    expect(new Set(refused).size).toBe(1)
    expect(refused).not.toContain(token)
    expect(signIn.tokenRequests).toHaveLength(2)
  })

  it('waits for another process that refreshes, then takes over from one that died over it', async () => {
    const { db, room, account } = await connected({ waitMs: 100, lookMs: 5 })
    const store = accountStore(db.read, db.dialect)
    await db.transaction((tx) => accountStore(tx, db.dialect).takeTokenLease(account.id, 'the dead', 60_000))
    await expect(room.token(account.id)).rejects.toMatchObject({ kind: 'unavailable', timedOut: true })
    expect(signIn.tokenRequests).toEqual([])
    await db.transaction((tx) => accountStore(tx, db.dialect).endTokenLease(account.id, 'the dead'))
    await db.transaction((tx) => accountStore(tx, db.dialect).takeTokenLease(account.id, 'the dead', 0))
    await eventually(async () => (await room.token(account.id)) !== '')
    expect(await store.get(account.id)).toMatchObject({ tokenLease: null, tokenLeaseUntil: null })
  })

  it('asks for a new consent when the grant is gone, and asks the provider no more until somebody wants it', async () => {
    const { db, room, account } = await connected()
    signIn.nextAnswers.push(refusal('invalid_grant'))
    await expect(room.token(account.id)).rejects.toMatchObject({ kind: 'auth_expired' })
    await db.transaction((tx) => room.accounts.setStatus(tx, account.id, 'auth_error', 'gone'))
    await expect(room.token(account.id)).rejects.toMatchObject({ kind: 'auth_expired', message: 'gone' })
    expect(signIn.tokenRequests).toHaveLength(1)
    await db.transaction((tx) => room.accounts.tryAgain(tx, account.id))
    expect(await room.token(account.id)).toMatch(/^access-/)
  })

  it('calls trouble at the provider temporary, leaves it alone for a while, and uses what still works', async () => {
    const { room, account } = await connected()
    signIn.nextAnswers.push({ ...refusal('x', 503), headers: { 'retry-after': '30' } })
    await expect(room.token(account.id)).rejects.toMatchObject({ kind: 'unavailable', retryAfterMs: 30_000 })
    await expect(room.token(account.id)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(signIn.tokenRequests).toHaveLength(1)
    // A token of 100 s is due after half its life at the latest, and works on to the end.
    const now = Date.now()
    const ageing = { accessToken: 'ageing', expiresAt: now + 100_000, refreshToken: 'r', scopes: [] }
    await room.link(oauthLink(undefined, { tokens: ageing }))
    signIn.nextAnswers.push(refusal('x', 500), refusal('x', 500))
    expect(await room.token(account.id)).toBe('ageing')
    await expect(room.token(account.id, 'ageing')).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('prefers the tokens of a new consent to a refresh that was under way', async () => {
    const { room, account } = await connected()
    signIn.beforeAnswer = async () => {
      signIn.beforeAnswer = async () => {}
      await room.link(oauthLink('newer', { tokens: { ...lasting, refreshToken: 'newer' } }))
    }
    expect(await room.token(account.id)).toBe('lasting')
    signIn.nextAnswers.push(refusal('invalid_grant'))
    await room.link(oauthLink('old'))
    signIn.beforeAnswer = async () => {
      signIn.beforeAnswer = async () => {}
      await room.link(oauthLink('newest', { tokens: { ...lasting, refreshToken: 'newest' } }))
    }
    expect(await room.token(account.id)).toBe('lasting')
  })

  it('stores the answer of a process that was held up for longer than its lease, and lets the account be tried again', async () => {
    const { db, room: slow, account } = await connected({ leaseMs: 1 })
    signIn.rotates = { graceMs: 0 }
    let goOn = () => {}
    let isHeld = false
    signIn.beforeAnswer = () => {
      signIn.beforeAnswer = async () => {}
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

  it('are not there for a deleted account, nor where signing in is not set up', async () => {
    const { db, room, account } = await connected()
    const bare = accountsRoom(db, { sealer: sealing })
    const { accessToken } = await bare.accounts.access(account.id)
    await expect(accessToken?.()).rejects.toMatchObject({ kind: 'rejected' })
    const access = await room.accounts.access(account.id)
    await db.transaction((tx) => room.accounts.remove(tx, account.id))
    await expect(access.accessToken?.()).rejects.toBeInstanceOf(AppError)
  })

  it('must have a refresh token among them, a new one or one that works', async () => {
    const { db, room, account } = await connected()
    const again = { tokens: lasting }
    expect((await room.link(oauthLink(undefined, again))).tokens.hasRefreshToken).toBe(true)
    await db.transaction((tx) => room.accounts.setStatus(tx, account.id, 'auth_error', 'gone'))
    await expect(room.link(oauthLink(undefined, again))).rejects.toBeInstanceOf(RefreshTokenMissing)
    await expect(room.link(oauthLink(undefined, { ...again, providerUser: 'user-2' }))).rejects.toBeInstanceOf(
      RefreshTokenMissing,
    )
    const renewed = await room.link(oauthLink('r', { tokens: { ...lasting, refreshToken: 'r' } }))
    expect(renewed).toMatchObject({ id: account.id, status: 'connecting', statusReason: null })
  })

  it('are revoked after the account is gone, unless the user has another, and once', async () => {
    const db = await open()
    const room = replica(db)
    const refreshToken = signIn.refreshToken()
    const link = (customUserId: string) => room.link(oauthLink(refreshToken, { provider: 'gmail', customUserId }))
    const [first, second] = [await link('one'), await link('two')]
    const revoke = revoker({ db, sealer: sealing, log: silentLog, login: loginAt(signIn.url) })
    await db.transaction((tx) => room.accounts.remove(tx, first.id))
    await revoke(first.id)
    expect(signIn.revoked).toEqual([])
    await db.transaction((tx) => room.accounts.remove(tx, second.id))
    const { revocation } = await db.read
      .selectFrom('accountErasures')
      .select('revocation')
      .where('accountId', '=', second.id)
      .executeTakeFirstOrThrow()
    expect(revocation).not.toContain(refreshToken)
    await revoke(second.id)
    await revoke(second.id)
    expect(signIn.revoked).toEqual([refreshToken])
    await signIn.close()
    const third = await link('three')
    await db.transaction((tx) => room.accounts.remove(tx, third.id))
    await expect(revoke(third.id)).resolves.toBeUndefined()
  })

  it('are never part of an error', async () => {
    const { room, account } = await connected()
    signIn.nextAnswers.push({ status: 200, body: '{"access_token":"secret-access","token_type":1}' })
    const error = await room.token(account.id).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ProviderError)
    expect(JSON.stringify([String(error), error])).not.toContain('secret-access')
  })
})
