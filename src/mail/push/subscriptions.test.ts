import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { startHttpServer } from '../../../test/servers/fake/http-server.ts'
import { type Google, startGoogle } from '../../../test/servers/google.ts'
import { type Microsoft, startMicrosoft } from '../../../test/servers/microsoft.ts'
import { microsoftAt } from '../../../test/servers/microsoft-mailbox.ts'
import { fence } from '../../accounts/cluster/index.ts'
import { type Account, OwnershipLost } from '../../accounts/index.ts'
import { hashClientState } from '../../platform/crypto/client-state.ts'
import type { Db } from '../../platform/db/index.ts'
import { silentLog } from '../../platform/log/index.ts'
import { fixedClock, systemClock } from '../../platform/time/clock.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import { gmailProvider } from '../../providers/gmail/index.ts'
import { pushStore } from './store.ts'
import { pushSubscriptions } from './subscriptions.ts'

const ADA = 'ada@example.com'
const ACCOUNT = 'acc_1'
const EPOCH = 3
const DAY_MS = 24 * 3600 * 1000
const PUBLIC = 'https://posthorn.example.com'

describeEachDatabase('a push subscription', (open) => {
  let google: Google
  let microsoft: Microsoft
  let db: Db
  const clock = fixedClock(0)
  let topicName: string
  let token: string
  let synced: string[]
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
    // Behind the provider's clock, so that a day later is still within Graph's limit.
    clock.advance(Date.now() - 2 * DAY_MS - clock.now())
    topicName = google.pubsub.topicName
    synced = []
    Object.assign(shown, { paused: false, status: 'connected', watch: true })
  })
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  async function subscriptions(provider: ProviderName) {
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
    const graph = microsoftAt(microsoft.url, { clock })
    closers.push(
      () => gmail.mail.closeConnections(),
      () => graph.mail.closeConnections(),
    )
    const access = { accountId: ACCOUNT, email: ADA, settings: {}, secrets: {}, accessVersion: 1 }
    const account = {
      id: ACCOUNT,
      email: ADA,
      provider,
      statusReason: null,
      customUserId: null,
      connectionId: null,
      folders: null,
      sharedWith: null,
      lastSyncAt: null,
    }
    const tokens = { expiresAt: null, scopes: [], hasRefreshToken: true }
    return pushSubscriptions({
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
      channel: (name) =>
        name === 'gmail'
          ? { provider: gmail.push, target: () => ({ kind: 'topic', topicName }) }
          : {
              provider: graph.push,
              target: () => ({ kind: 'webhook', url: `${PUBLIC}/n`, lifecycleUrl: `${PUBLIC}/l` }),
            },
      syncNeeded: (id) => void synced.push(id),
    })
  }
  const calls = (what: string) => ({ ...google.calls.counts(), ...microsoft.calls.counts() })[what] ?? 0
  const WATCH = 'POST /gmail/v1/users/{userId}/watch'
  const BEGIN = 'POST /v1.0/subscriptions'
  const RENEW = 'PATCH /v1.0/subscriptions/{id}'

  it('is created once and renewed within a day; only a new one requests a sync', async () => {
    const { ensure } = await subscriptions('gmail')
    const first = await ensure(ACCOUNT, EPOCH)
    expect(first).toMatchObject({ subscriptionId: ADA, target: topicName, clientStateHash: null })
    expect((first?.renewAt ?? 0) - clock.now()).toBeLessThanOrEqual(DAY_MS)
    await ensure(ACCOUNT, EPOCH)
    expect([calls(WATCH), synced]).toEqual([1, [ACCOUNT]])
    clock.advance(DAY_MS)
    await ensure(ACCOUNT, EPOCH)
    expect([calls(WATCH), synced]).toEqual([2, [ACCOUNT]])
  })

  it('of Graph stores its client state as a hash, is renewed, and is recreated after it expired', async () => {
    microsoft.subscriptions.route(PUBLIC, await echo(closers))
    const { ensure } = await subscriptions('microsoft')
    const first = await ensure(ACCOUNT, EPOCH)
    const [created] = microsoft.subscriptions.of(ADA)
    expect(first?.clientStateHash).toBe(hashClientState(created?.clientState ?? ''))
    expect(JSON.stringify(await pushStore(db.read).find(ACCOUNT))).not.toContain(created?.clientState)
    clock.advance(DAY_MS)
    const renewed = await ensure(ACCOUNT, EPOCH)
    expect([calls(BEGIN), calls(RENEW)]).toEqual([1, 1])
    expect(renewed).toMatchObject({ subscriptionId: first?.subscriptionId, clientStateHash: first?.clientStateHash })
    expect(renewed?.expiresAt).toBeGreaterThan(first?.expiresAt ?? 0)
    microsoft.subscriptions.expire(ADA)
    clock.advance(DAY_MS)
    const second = await ensure(ACCOUNT, EPOCH)
    expect(second?.subscriptionId).not.toBe(first?.subscriptionId)
    expect([calls(BEGIN), calls(RENEW), synced]).toEqual([2, 2, [ACCOUNT, ACCOUNT]])
  })

  it('is not stored by a former owner, and is ended at the provider', async () => {
    microsoft.subscriptions.route(PUBLIC, await echo(closers))
    const { ensure } = await subscriptions('microsoft')
    await expect(ensure(ACCOUNT, EPOCH - 1)).rejects.toBeInstanceOf(OwnershipLost)
    expect(await pushStore(db.read).find(ACCOUNT)).toBeUndefined()
    expect([calls(BEGIN), microsoft.subscriptions.of(ADA), synced]).toEqual([1, [], []])
  })

  it('does not exist for an account that is paused, rejected or not watched', async () => {
    const { ensure } = await subscriptions('gmail')
    for (const state of [{ paused: true }, { status: 'auth_error' }, { watch: false }] as const) {
      Object.assign(shown, { paused: false, status: 'connected', watch: true }, state)
      expect(await ensure(ACCOUNT, EPOCH)).toBeUndefined()
    }
    expect(calls(WATCH)).toBe(0)
  })

  it('is moved to the topic that the settings name now', async () => {
    const { ensure } = await subscriptions('gmail')
    await ensure(ACCOUNT, EPOCH)
    topicName = 'projects/project/topics/other'
    await expect(ensure(ACCOUNT, EPOCH)).rejects.toMatchObject({ kind: 'rejected' })
    expect(google.watch.watched()).toEqual([])
    expect(await pushStore(db.read).find(ACCOUNT)).toBeUndefined()
  })
})

/** A server that only completes Graph's validation handshake. */
async function echo(closers: (() => Promise<void>)[]): Promise<string> {
  const front = await startHttpServer(
    async ({ url }) =>
      new Response(url.searchParams.get('validationToken') ?? '', { headers: { 'content-type': 'text/plain' } }),
  )
  closers.push(() => front.close())
  return front.url
}
