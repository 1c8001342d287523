import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { loginAt, oauthLink } from '../../../test/kit/accounts/oauth.ts'
import { describeOneDatabase, type Place } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { random } from '../../../test/kit/random/random.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { type OAuthServer, startOAuthServer } from '../../../test/servers/oauth-server.ts'
import { sleep } from '../../platform/concurrency/abort.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import { accountStore } from '../identity/store.ts'
import { openSecrets } from './account-secrets.ts'

const KILLS = 6
const LEASE_MS = 50

describeOneDatabase('rotated tokens of a process that is killed', 'postgres', (open) => {
  const ring = generateKeyRing()
  let oauthServer: OAuthServer
  let worker: ChildProcess | undefined
  let chance: () => number
  beforeEach(async () => {
    chance = random()
    oauthServer = await startOAuthServer()
  })
  afterEach(async () => {
    worker?.kill('SIGKILL')
    await oauthServer.close()
  })

  const accountsOn = (db: Db, leaseMs = LEASE_MS) =>
    testAccounts(db, {
      sealer: sealer(parseKeyRing(ring)),
      login: loginAt(oauthServer.url),
      tokenTiming: { leaseMs },
    }).accounts

  async function connected() {
    const place = await open.place()
    const db = await open(place)
    const accounts = accountsOn(db)
    const account = await db.transaction((tx) => accounts.link(tx, oauthLink(oauthServer.refreshToken())))
    return { place, db, accounts, account }
  }

  async function begin(place: Place, accountId: string): Promise<ChildProcess> {
    const child = startWorker('token-worker', [JSON.stringify(place), ring, oauthServer.url, accountId])
    worker = child
    await once(child.stdout, 'data')
    return child
  }

  /** Kills the worker at a random moment after a few refreshes. */
  async function killed(place: Place, accountId: string): Promise<void> {
    const child = await begin(place, accountId)
    const enough = oauthServer.tokenRequests.length + 3
    await eventually(() => oauthServer.tokenRequests.length >= enough)
    await sleep(chance() * 20)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  it('keep working when the old refresh token stays valid for a while, as at Microsoft', async () => {
    const { place, accounts, account } = await connected()
    oauthServer.rotates = { graceMs: 60_000 }
    for (let kill = 0; kill < KILLS; kill += 1) await killed(place, account.id)
    const { accessToken } = await accounts.access(account.id)
    const before = await accessToken?.()
    expect(await accessToken?.(before)).not.toBe(before)
  })

  it('are lost only if the response was not stored and the old token ends at once', async () => {
    const { place, db, accounts, account } = await connected()
    oauthServer.rotates = { graceMs: 0 }
    await killed(place, account.id)
    const { oauth } = openSecrets(sealer(parseKeyRing(ring)), await accountStore(db.read, db.dialect).get(account.id))
    const isStored = oauthServer.isValid(oauth?.refreshToken ?? '')
    const { accessToken } = await accounts.access(account.id)
    const token = accessToken?.(oauth?.accessToken)
    if (isStored) await expect(token).resolves.toMatch(/^access-/)
    else await expect(token).rejects.toMatchObject({ kind: 'auth_expired' })
  })

  it('are not used when a process dies before it has checked their user', async () => {
    const { place, accounts, account } = await connected()
    oauthServer.rotates = { graceMs: 60_000 }
    let isAsked = false
    oauthServer.beforeUser = () => {
      isAsked = true
      return new Promise(() => {})
    }
    const child = await begin(place, account.id)
    await eventually(() => isAsked)
    child.kill('SIGKILL')
    await once(child, 'exit')
    oauthServer.beforeUser = async () => {}
    const { accessToken } = await accounts.access(account.id)
    const requests = oauthServer.tokenRequests.length
    await eventually(async () => /^access-/.test((await accessToken?.()) ?? ''))
    expect(oauthServer.tokenRequests).toHaveLength(requests + 1)
  })

  it('survive a process that dies before the provider responds', async () => {
    const { place, accounts, account } = await connected()
    oauthServer.rotates = { graceMs: 0 }
    oauthServer.nextResponses.push({ status: 503, body: '' })
    let isRequested = false
    oauthServer.beforeResponse = () => {
      isRequested = true
      return new Promise(() => {})
    }
    const child = await begin(place, account.id)
    await eventually(() => isRequested)
    child.kill('SIGKILL')
    await once(child, 'exit')
    oauthServer.beforeResponse = async () => {}
    const { accessToken } = await accounts.access(account.id)
    await eventually(async () => /^access-/.test((await accessToken?.()) ?? ''))
  })

  it('of a user open the shared mailboxes on every replica with one refresh, also after one dies during it', async () => {
    const { place, db, accounts, account } = await connected()
    const shared: string[] = []
    for (const email of ['support@acme.example', 'sales@acme.example']) {
      const { tokens: _, ...mailbox } = oauthLink('')
      const providerUser = JSON.stringify(['mailbox', email])
      const input = { ...mailbox, email, providerUser, settings: { graph: { user: email } }, sharedWith: account.id }
      shared.push((await db.transaction((tx) => accounts.link(tx, input))).id)
    }
    oauthServer.rotates = { graceMs: 60_000 }
    const old = await (await accounts.access(account.id)).accessToken?.()

    // One replica dies while it refreshes for a shared mailbox.
    let isRequested = false
    oauthServer.beforeResponse = () => {
      isRequested = true
      return new Promise(() => {})
    }
    oauthServer.nextResponses.push({ status: 503, body: '' })
    const child = await begin(place, shared[0] ?? '')
    const first = oauthServer.tokenRequests.length
    await eventually(() => isRequested)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(oauthServer.tokenRequests.length - first).toBeLessThanOrEqual(1)
    oauthServer.beforeResponse = async () => {}
    await sleep(LEASE_MS)

    const before = oauthServer.tokenRequests.length
    const replicas = [accountsOn(db, 30_000), accountsOn(await open(place), 30_000)]
    const tokens = await Promise.all(
      replicas.flatMap((replica) =>
        [account.id, ...shared].map(async (id) => (await replica.access(id)).accessToken?.(old)),
      ),
    )
    expect(new Set(tokens).size).toBe(1)
    expect(tokens[0]).not.toBe(old)
    expect(oauthServer.tokenRequests).toHaveLength(before + 1)
  })
})
