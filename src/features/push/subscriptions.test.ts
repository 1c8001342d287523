import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { startHttpServer } from '../../../test/servers/fake/http-server.ts'
import { type Google, startGoogle } from '../../../test/servers/google.ts'
import { type Microsoft, startMicrosoft } from '../../../test/servers/microsoft.ts'
import type { Db } from '../../infra/db/index.ts'
import { silentLog } from '../../infra/log/index.ts'
import { fixedClock, systemClock } from '../../lib/clock.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import { gmailProvider } from '../../providers/gmail/index.ts'
import { microsoftProvider } from '../../providers/microsoft/index.ts'
import { type Account, fence, OwnershipLost } from '../accounts/index.ts'
import { hashOf } from './client-state.ts'
import { pushStore } from './store.ts'
import { subscriber } from './subscriptions.ts'

const ADA = 'ada@example.com'
const ACCOUNT = 'acc_1'
const EPOCH = 3
const DAY_MS = 24 * 3600 * 1000
const PUBLIC = 'https://posthorn.example.com'

describeEachDatabase('a standing order at the provider', (open) => {
  let google: Google
  let microsoft: Microsoft
  let db: Db
  const clock = fixedClock(0)
  let topicName: string
  let token: string
  let looked: string[]
  const shown: Partial<Account> = {}
  const closers: (() => Promise<void>)[] = []

  beforeEach(async () => {
    google = await startGoogle()
    microsoft = await startMicrosoft()
    closers.push(
      () => google.close(),
      () => microsoft.close(),
    )
    google.addUser(ADA)
    microsoft.addUser(ADA)
    db = await open()
    // Behind the providers' own clock, so that a day later is still within what Graph allows.
    clock.advance(Date.now() - 2 * DAY_MS - clock.now())
    topicName = google.pubsub.topicName
    looked = []
    Object.assign(shown, { paused: false, status: 'connected', watch: true })
  })
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  async function room(provider: ProviderName) {
    token = (await (provider === 'gmail' ? google : microsoft).grant(ADA)).accessToken
    await db.transaction(async (tx) => {
      const row = {
        id: ACCOUNT,
        email: ADA,
        provider,
        status: 'connected',
        statusReason: null,
        paused: 0,
        watch: 1,
      } as const
      const person = { customUserId: null, providerUser: 'u', identity: 'i', settings: '{}', secrets: '', tokens: '{}' }
      const life = { trouble: null, lastSyncAt: null, ownerInstance: null, createdAt: 0, updatedAt: 0 }
      await tx
        .insertInto('accounts')
        .values({ ...row, ...person, ...life, epoch: EPOCH })
        .execute()
    })
    const gmail = gmailProvider({ apiUrl: google.url, clock: systemClock })
    const graph = microsoftProvider({ graphUrl: microsoft.url, clock })
    closers.push(
      () => gmail.mail.closeConnections(),
      () => graph.mail.closeConnections(),
    )
    const access = { accountId: ACCOUNT, email: ADA, settings: {}, secrets: {}, accessVersion: 1 }
    const account = { id: ACCOUNT, email: ADA, provider, statusReason: null, customUserId: null, lastSyncAt: null }
    const tokens = { expiresAt: null, scopes: [], hasRefreshToken: true }
    return subscriber({
      db,
      fence,
      clock,
      log: silentLog,
      accounts: {
        get: async () => {
          const { paused = false, status = 'connected', watch = true } = shown
          return { ...account, paused, status, watch, tokens, createdAt: '', updatedAt: '' }
        },
        access: async () => ({ ...access, accessToken: async () => token }),
      },
      way: (name) =>
        name === 'gmail'
          ? { provider: gmail.push, target: () => ({ kind: 'topic', topicName }) }
          : {
              provider: graph.push,
              target: () => ({ kind: 'webhook', url: `${PUBLIC}/n`, lifecycleUrl: `${PUBLIC}/l` }),
            },
      syncNeeded: (id) => void looked.push(id),
      login: () => undefined,
      refreshTokenOfGone: async () => undefined,
    })
  }
  const calls = (what: string) => ({ ...google.calls.counts(), ...microsoft.calls.counts() })[what] ?? 0
  const WATCH = 'POST /gmail/v1/users/{userId}/watch'
  const BEGIN = 'POST /v1.0/subscriptions'
  const RENEW = 'PATCH /v1.0/subscriptions/{id}'

  it('is made once, renewed within a day, and only a new one makes the account look', async () => {
    const { keep } = await room('gmail')
    const first = await keep(ACCOUNT, EPOCH)
    expect(first).toMatchObject({ subscriptionId: ADA, target: topicName, clientStateHash: null })
    expect((first?.renewAt ?? 0) - clock.now()).toBeLessThanOrEqual(DAY_MS)
    await keep(ACCOUNT, EPOCH)
    expect([calls(WATCH), looked]).toEqual([1, [ACCOUNT]])
    clock.advance(DAY_MS)
    await keep(ACCOUNT, EPOCH)
    expect([calls(WATCH), looked]).toEqual([2, [ACCOUNT]])
  })

  it('of Graph keeps its secret as a hash, is renewed, and made anew when it is gone or has run out', async () => {
    microsoft.subscriptions.route(PUBLIC, await echo(closers))
    const { keep } = await room('microsoft')
    const first = await keep(ACCOUNT, EPOCH)
    const [made] = microsoft.subscriptions.of(ADA)
    expect(first?.clientStateHash).toBe(hashOf(made?.clientState ?? ''))
    expect(JSON.stringify(await pushStore(db.read).find(ACCOUNT))).not.toContain(made?.clientState)
    clock.advance(DAY_MS)
    const renewed = await keep(ACCOUNT, EPOCH)
    expect([calls(BEGIN), calls(RENEW)]).toEqual([1, 1])
    expect(renewed).toMatchObject({ subscriptionId: first?.subscriptionId, clientStateHash: first?.clientStateHash })
    expect(renewed?.expiresAt).toBeGreaterThan(first?.expiresAt ?? 0)
    microsoft.subscriptions.expire(ADA)
    clock.advance(DAY_MS)
    const second = await keep(ACCOUNT, EPOCH)
    expect(second?.subscriptionId).not.toBe(first?.subscriptionId)
    expect([calls(BEGIN), calls(RENEW), looked]).toEqual([2, 2, [ACCOUNT, ACCOUNT]])
  })

  it('is not stored by one who owns the account no more, and ends then', async () => {
    microsoft.subscriptions.route(PUBLIC, await echo(closers))
    const { keep } = await room('microsoft')
    await expect(keep(ACCOUNT, EPOCH - 1)).rejects.toBeInstanceOf(OwnershipLost)
    expect(await pushStore(db.read).find(ACCOUNT)).toBeUndefined()
    expect([calls(BEGIN), microsoft.subscriptions.of(ADA), looked]).toEqual([1, [], []])
  })

  it('is none for an account that is paused, refused or not watched', async () => {
    const { keep } = await room('gmail')
    for (const state of [{ paused: true }, { status: 'auth_error' }, { watch: false }] as const) {
      Object.assign(shown, { paused: false, status: 'connected', watch: true }, state)
      expect(await keep(ACCOUNT, EPOCH)).toBeUndefined()
    }
    expect(calls(WATCH)).toBe(0)
  })

  it('goes where the settings say now', async () => {
    const { keep } = await room('gmail')
    await keep(ACCOUNT, EPOCH)
    topicName = 'projects/project/topics/other'
    await expect(keep(ACCOUNT, EPOCH)).rejects.toMatchObject({ kind: 'rejected' })
    expect(google.watch.watched()).toEqual([])
    expect(await pushStore(db.read).find(ACCOUNT)).toBeUndefined()
  })
})

/** A server that answers the handshake and nothing else. */
async function echo(closers: (() => Promise<void>)[]): Promise<string> {
  const front = await startHttpServer(
    async ({ url }) =>
      new Response(url.searchParams.get('validationToken') ?? '', { headers: { 'content-type': 'text/plain' } }),
  )
  closers.push(() => front.close())
  return front.url
}
