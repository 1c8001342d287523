import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Databases } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import type { Fault } from '../servers/fake/faults.ts'
import { type OAuthStage, type SiteName, startOAuthStage } from './oauth.ts'
import { old, servers, type Tried, tried } from './oauth-mailbox.ts'

const MAIL = { gmail: /\/gmail\/v1\/|\/batch/, microsoft: /\/v1\.0\// }
const TOKEN = { gmail: /\/token$/, microsoft: /\/oauth2\/v2\.0\/token/ }
const FOR_EVER = 100_000

/** Every failure that a provider may cause, each once, through the built service: about two minutes per database. */
export function testEveryProviderFailure(databases: Databases): void {
  let stage: OAuthStage
  let bystanders: Record<SiteName, Tried>
  let mails = 0
  beforeAll(async () => {
    stage = await startOAuthStage(await databases.place())
    bystanders = {
      gmail: await tried(stage, 'gmail', 'bystander@example.com'),
      microsoft: await tried(stage, 'microsoft', 'bystander@example.com'),
    }
  })
  afterAll(() => stage?.close())
  afterEach(() => {
    for (const { server } of Object.values(stage.sites)) server.faults.clear()
  })

  const passed: Record<SiteName, string[]> = { gmail: [], microsoft: [] }
  /** The other account of the same provider hears of its mail at once. */
  async function othersAreWell(name: SiteName): Promise<void> {
    const subject = `still well ${++mails}`
    passed[name].push(subject)
    await bystanders[name].deliver(subject)
    await bystanders[name].look()
    await bystanders[name].inStep(passed[name])
    await bystanders[name].expectAccountEvents()
  }

  const email = () => `user${++mails}@example.com`
  /** Mail comes, goes and is read while there is trouble. */
  async function live(box: Tried): Promise<string[]> {
    const fresh = [`x of ${box.email}`, `y of ${box.email}`]
    for (const subject of fresh) await box.deliver(subject)
    const [first = '', second = ''] = old(box.email)
    await box.remove(first)
    await box.markRead(second)
    return fresh
  }

  describe.each(['gmail', 'microsoft'] as const)('%s', (name) => {
    /** ApiResponse wrongly once or twice; nobody needs to know. */
    it.each<[Fault, { retryAfter?: number }]>([
      ['rate-limited', { retryAfter: 1 }],
      ['server-error', {}],
      ['unavailable', {}],
      ['malformed', {}],
      ['html', {}],
      ['reset', {}],
      ['unauthorized', {}],
    ])('a passing %s is got over in silence', async (as, more) => {
      const box = await tried(stage, name, email())
      const fresh = await live(box)
      const { server } = stage.sites[name]
      server.fail({ as, on: MAIL[name], user: box.email, times: 1, ...more })
      await box.look()
      await eventually(() => server.faults.waiting === 0)
      await othersAreWell(name)
      await box.inStep(fresh)
      await box.expectAccountEvents()
    })

    it.each<[Fault]>([['server-error'], ['malformed'], ['reset']])(
      'a %s that lasts is told, and nothing is lost when it ends',
      async (as) => {
        const box = await tried(stage, name, email())
        const { server } = stage.sites[name]
        server.fail({ as, on: MAIL[name], user: box.email, times: FOR_EVER })
        const fresh = await live(box)
        await box.waitForStatus('error')
        await othersAreWell(name)
        server.faults.clear()
        await box.inStep(fresh)
        await box.expectAccountEvents('account.sync_stalled', 'account.recovered')
      },
    )

    it('a pause that was asked for is kept, whoever wants it sooner, and is no failure of the account', async () => {
      const box = await tried(stage, name, email())
      const { server } = stage.sites[name]
      server.fail({ as: 'rate-limited', on: MAIL[name], user: box.email, times: 1, retryAfter: 7 })
      const fresh = await live(box)
      await box.look()
      await eventually(() => server.faults.waiting === 0)
      const asked = server.calls.total({ user: box.email })
      await box.look()
      await othersAreWell(name)
      expect(await box.status()).toMatchObject({ status: 'connected' })
      expect(server.calls.total({ user: box.email })).toBe(asked)
      await box.inStep(fresh)
      await box.expectAccountEvents()
    })

    it('a permission that is missing is told by its name, and is not taken for a consent withdrawn', async () => {
      const box = await tried(stage, name, email())
      const { server } = stage.sites[name]
      server.fail({ as: 'missing-scope', on: MAIL[name], user: box.email, times: FOR_EVER })
      const fresh = await live(box)
      expect(await box.waitForStatus('error')).toMatch(/did not grant the scope|the access granted does not cover it/)
      await othersAreWell(name)
      server.faults.clear()
      await box.consentAgain()
      await box.inStep(fresh)
      await box.expectAccountEvents('account.sync_stalled', 'account.recovered')
    })

    it('a consent withdrawn is auth_error, told once, until the person consents again', async () => {
      const box = await tried(stage, name, email())
      const { server } = stage.sites[name]
      server.revokeGrants(box.email)
      const fresh = await live(box)
      await box.waitForStatus('auth_error')
      await othersAreWell(name)
      await box.expectAccountEvents('account.auth_error')
      await box.consentAgain()
      await box.inStep(fresh)
      await box.expectAccountEvents('account.auth_error', 'account.recovered')
    })

    it('an access token that dies is refreshed once', async () => {
      const box = await tried(stage, name, email())
      const { server } = stage.sites[name]
      const before = server.refreshes(box.email)
      server.expireAccessTokens(box.email)
      const fresh = await live(box)
      await box.look()
      await box.inStep(fresh)
      expect(server.refreshes(box.email)).toBe(before + 1)
      await box.expectAccountEvents()
    })

    it.each<[Fault]>([['unavailable'], ['html'], ['reset'], ['rate-limited']])(
      'a token endpoint that answers with %s never ends in auth_error',
      async (as) => {
        const box = await tried(stage, name, email())
        const { server } = stage.sites[name]
        server.fail({ as, on: TOKEN[name], user: box.email, times: FOR_EVER })
        server.expireAccessTokens(box.email)
        const fresh = await live(box)
        await box.waitForStatus('error')
        await othersAreWell(name)
        server.faults.clear()
        await box.inStep(fresh)
        await box.expectAccountEvents('account.sync_stalled', 'account.recovered')
      },
    )

    it('a position that is too old ends in a comparison: nothing lost, nothing announced twice', async () => {
      const box = await tried(stage, name, email())
      const first = await live(box)
      await box.inStep(first)
      const { google, microsoft } = servers(stage)
      const more = [`late of ${box.email}`]
      for (const subject of more) await box.deliver(subject)
      await box.remove(`x of ${box.email}`)
      if (name === 'gmail') google.expireHistory(box.email)
      else microsoft.expireDelta(box.email)
      await box.look()
      await othersAreWell(name)
      await box.inStep([...first, ...more])
      await box.expectAccountEvents()
    })

    it('a message that goes after it was listed is left out', async () => {
      const box = await tried(stage, name, email())
      const { server } = stage.sites[name]
      const fresh = await live(box)
      await box.deliver('going')
      server.fail({ as: 'rate-limited', on: FETCHED[name], user: box.email, times: 1, retryAfter: 2 })
      await box.look()
      await eventually(() => server.faults.waiting === 0)
      await box.remove('going')
      await box.inStep(fresh)
      await box.expectAccountEvents()
    })
  })

  it('gmail: a limit of 403 is a short pause, and the daily limit one of an hour that an operator can end', async () => {
    const { google } = servers(stage)
    const box = await tried(stage, 'gmail', email())
    google.fail({ as: 'rate-limited-403', on: MAIL.gmail, user: box.email, times: 1, retryAfter: 1 })
    const fresh = await live(box)
    await box.look()
    await box.inStep(fresh)

    google.fail({ as: 'daily-limit', on: MAIL.gmail, user: box.email, times: 1 })
    const late = `after the limit of ${box.email}`
    await box.deliver(late)
    await box.look()
    await eventually(async () => {
      const job = await stage.api.call<{ nextRunAt: string }>('GET', `/debounced-queue/accounts/${box.accountId}`)
      expect(Date.parse(job.nextRunAt)).toBeGreaterThan(Date.now() + 50 * 60_000)
    })
    await othersAreWell('gmail')
    // Its client leaves the mailbox alone for a minute all the same.
    await stage.api.call('POST', '/debounced-queue/clear')
    await eventually(async () => {
      const { messages } = await stage.api.call<{ messages: { subject: string }[] }>(
        'GET',
        `/accounts/${box.accountId}/messages`,
      )
      expect(messages.map(({ subject }) => subject)).toContain(late)
    }, 120_000)
    await box.inStep([...fresh, late])
    await box.expectAccountEvents()
  })

  it('microsoft: a demand for interaction is auth_error until the person consents again', async () => {
    const { microsoft } = servers(stage)
    const box = await tried(stage, 'microsoft', email())
    microsoft.requireInteraction(box.email)
    microsoft.expireAccessTokens(box.email)
    const fresh = await live(box)
    await box.waitForStatus('auth_error')
    await othersAreWell('microsoft')
    await box.consentAgain()
    await box.inStep(fresh)
    await box.expectAccountEvents('account.auth_error', 'account.recovered')
  })

  it('microsoft: a link that leads to another host is not followed, and the host is named', async () => {
    const visits: string[] = []
    const foreign = createServer((request, response) => {
      visits.push(String(request.headers.authorization))
      response.end('{}')
    })
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
    const { port } = foreign.address() as AddressInfo
    try {
      const { microsoft } = servers(stage)
      const box = await tried(stage, 'microsoft', email())
      const fresh = await live(box)
      const foreignOrigin = `http://127.0.0.1:${port}`
      microsoft.fail({ as: 'foreign-link', on: /delta/, user: box.email, times: FOR_EVER, foreignOrigin })
      expect(await box.waitForStatus('error')).toContain(`127.0.0.1:${port}`)
      await othersAreWell('microsoft')
      microsoft.faults.clear()
      await box.inStep(fresh)
      expect(visits).toEqual([])
    } finally {
      foreign.closeAllConnections()
      await new Promise((resolve) => foreign.close(resolve))
    }
  })
}

/** Where what was listed is fetched. */
const FETCHED = { gmail: /\/batch|\/messages\//, microsoft: /batch|\/delta/ }
