import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Databases } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import type { Fault } from '../servers/fake/faults.ts'
import { numberedMessage } from './mailboxes.ts'
import { type OAuthStage, type SiteName, startOAuthStage } from './oauth.ts'
import { connectTestMailbox, fakeProviders, initialSubjects, type TestMailbox } from './oauth-mailbox.ts'

const MAIL = { gmail: /\/gmail\/v1\/|\/batch/, microsoft: /\/v1\.0\// }
const TOKEN = { gmail: /\/token$/, microsoft: /\/oauth2\/v2\.0\/token/ }
const ALWAYS = 100_000

/** Makes the fake providers fail in every known way, once each, against the built service. Takes about two minutes per database. */
export function testEveryProviderFailure(databases: Databases): void {
  let stage: OAuthStage
  let bystanders: Record<SiteName, TestMailbox>
  let counter = 0
  beforeAll(async () => {
    stage = await startOAuthStage(await databases.place())
    bystanders = {
      gmail: await connectTestMailbox(stage, 'gmail', 'bystander@example.com'),
      microsoft: await connectTestMailbox(stage, 'microsoft', 'bystander@example.com'),
    }
  })
  afterAll(() => stage?.close())
  afterEach(() => {
    for (const { server } of Object.values(stage.sites)) server.faults.clear()
  })

  const passed: Record<SiteName, string[]> = { gmail: [], microsoft: [] }
  /** Another account at the same provider still receives its messages. */
  async function expectOthersUnaffected(name: SiteName): Promise<void> {
    const subject = `unaffected ${++counter}`
    passed[name].push(subject)
    await bystanders[name].deliver(subject)
    await bystanders[name].requestSync()
    await bystanders[name].expectInSync(passed[name])
    await bystanders[name].expectAccountEvents()
  }

  const email = () => `user${++counter}@example.com`
  /** Delivers two messages, deletes one and marks one as read. Returns the new subjects. */
  async function changeMailbox(box: TestMailbox): Promise<string[]> {
    const fresh = [`x of ${box.email}`, `y of ${box.email}`]
    for (const subject of fresh) await box.deliver(subject)
    const [first = '', second = ''] = initialSubjects(box.email)
    await box.remove(first)
    await box.markRead(second)
    return fresh
  }

  describe.each(['gmail', 'microsoft'] as const)('%s', (name) => {
    it.each<[Fault, { retryAfter?: number }]>([
      ['rate-limited', { retryAfter: 1 }],
      ['server-error', {}],
      ['unavailable', {}],
      ['malformed', {}],
      ['html', {}],
      ['reset', {}],
      ['unauthorized', {}],
    ])('recovers from one %s without an event', async (as, more) => {
      const box = await connectTestMailbox(stage, name, email())
      const fresh = await changeMailbox(box)
      const { server } = stage.sites[name]
      server.fail({ as, on: MAIL[name], user: box.email, times: 1, ...more })
      await box.requestSync()
      await eventually(() => server.faults.waiting === 0)
      await expectOthersUnaffected(name)
      await box.expectInSync(fresh)
      await box.expectAccountEvents()
    })

    it.each<[Fault]>([['server-error'], ['malformed'], ['reset']])(
      'reports a lasting %s, and loses nothing when it ends',
      async (as) => {
        const box = await connectTestMailbox(stage, name, email())
        const { server } = stage.sites[name]
        server.fail({ as, on: MAIL[name], user: box.email, times: ALWAYS })
        const fresh = await changeMailbox(box)
        await box.waitForStatus('error')
        await expectOthersUnaffected(name)
        server.faults.clear()
        await box.expectInSync(fresh)
        await box.expectAccountEvents('account.sync_stalled', 'account.recovered')
      },
    )

    it('waits for Retry-After, stays connected, and tries at once when a person requests a sync', async () => {
      const box = await connectTestMailbox(stage, name, email())
      const { server } = stage.sites[name]
      // Always: a sync that begins by itself may receive the first response, and the request would then end its pause.
      server.fail({ as: 'rate-limited', on: MAIL[name], user: box.email, times: ALWAYS, retryAfter: 600 })
      const fresh = await changeMailbox(box)
      await box.requestSync()
      await box.waitForPause(9 * 60_000)
      server.faults.clear()
      // Calendars are read meanwhile.
      const mailCalls = () => server.calls.matching({ user: box.email }).filter(({ path }) => MAIL[name].test(path))
      const calls = mailCalls().length
      await expectOthersUnaffected(name)
      expect(await box.status()).toMatchObject({ status: 'connected' })
      expect(mailCalls()).toHaveLength(calls)
      await box.requestSync()
      await box.expectInSync(fresh)
      await box.expectAccountEvents()
    })

    it('reports a scope missing on every call as auth_error with its name, until the user consents again', async () => {
      const box = await connectTestMailbox(stage, name, email())
      const { server } = stage.sites[name]
      server.fail({ as: 'missing-scope', on: MAIL[name], user: box.email, times: ALWAYS })
      const fresh = await changeMailbox(box)
      expect(await box.waitForStatus('auth_error')).toMatch(/grant(ed)? the scope .*(gmail\.modify|Mail\.ReadWrite)/)
      await expectOthersUnaffected(name)
      server.faults.clear()
      await box.consentAgain()
      await box.expectInSync(fresh)
      await box.expectAccountEvents('account.auth_error', 'account.recovered')
    })

    it('reports withdrawn consent once as auth_error, until the user consents again', async () => {
      const box = await connectTestMailbox(stage, name, email())
      const { server } = stage.sites[name]
      server.revokeGrants(box.email)
      const fresh = await changeMailbox(box)
      await box.waitForStatus('auth_error')
      await expectOthersUnaffected(name)
      await box.expectAccountEvents('account.auth_error')
      await box.consentAgain()
      await box.expectInSync(fresh)
      await box.expectAccountEvents('account.auth_error', 'account.recovered')
    })

    it('never syncs with the tokens of another user: auth_error until the user consents again', async () => {
      const box = await connectTestMailbox(stage, name, email())
      const stranger = email()
      const { server } = stage.sites[name]
      server.addUser(stranger)
      await server.deliver(stranger, numberedMessage(`private of ${stranger}`))
      const before = await box.storedSubjects()
      server.misissueTokens(box.email, stranger)
      server.expireAccessTokens(box.email)
      const fresh = await changeMailbox(box)
      expect(await box.waitForStatus('auth_error')).toContain('another user')
      await expectOthersUnaffected(name)
      expect(await box.storedSubjects()).toEqual(before)
      await box.expectAccountEvents('account.auth_error')
      server.misissueTokens(box.email, null)
      await box.consentAgain()
      await box.expectInSync(fresh)
      await box.expectAccountEvents('account.auth_error', 'account.recovered')
    })

    it('refreshes an expired access token once', async () => {
      const box = await connectTestMailbox(stage, name, email())
      const { server } = stage.sites[name]
      const before = server.refreshes(box.email)
      server.expireAccessTokens(box.email)
      const fresh = await changeMailbox(box)
      await box.requestSync()
      await box.expectInSync(fresh)
      expect(server.refreshes(box.email)).toBe(before + 1)
      await box.expectAccountEvents()
    })

    it.each<[Fault]>([['unavailable'], ['html'], ['reset'], ['rate-limited']])(
      'never enters auth_error when the token endpoint returns %s',
      async (as) => {
        const box = await connectTestMailbox(stage, name, email())
        const { server } = stage.sites[name]
        server.fail({ as, on: TOKEN[name], user: box.email, times: ALWAYS })
        server.expireAccessTokens(box.email)
        const fresh = await changeMailbox(box)
        await box.waitForStatus('error')
        await expectOthersUnaffected(name)
        server.faults.clear()
        await box.expectInSync(fresh)
        await box.expectAccountEvents('account.sync_stalled', 'account.recovered')
      },
    )

    it('falls back to a full comparison when the cursor has expired, without loss or duplicate events', async () => {
      const box = await connectTestMailbox(stage, name, email())
      const first = await changeMailbox(box)
      await box.expectInSync(first)
      const { google, microsoft } = fakeProviders(stage)
      const more = [`late of ${box.email}`]
      for (const subject of more) await box.deliver(subject)
      await box.remove(`x of ${box.email}`)
      if (name === 'gmail') google.expireHistory(box.email)
      else microsoft.expireDelta(box.email)
      await box.requestSync()
      await expectOthersUnaffected(name)
      await box.expectInSync([...first, ...more])
      await box.expectAccountEvents()
    })

    it('skips a message that is deleted between listing and fetching', async () => {
      const box = await connectTestMailbox(stage, name, email())
      const { server } = stage.sites[name]
      const fresh = await changeMailbox(box)
      await box.deliver('deleted')
      server.fail({ as: 'rate-limited', on: FETCHED[name], user: box.email, times: 1, retryAfter: 2 })
      await box.requestSync()
      await eventually(() => server.faults.waiting === 0)
      await box.remove('deleted')
      await box.expectInSync(fresh)
      await box.expectAccountEvents()
    })
  })

  it('gmail: pauses briefly on a 403 rate limit, and for an hour on the daily limit unless an operator clears it', async () => {
    const { google } = fakeProviders(stage)
    const box = await connectTestMailbox(stage, 'gmail', email())
    google.fail({ as: 'rate-limited-403', on: MAIL.gmail, user: box.email, times: 1, retryAfter: 1 })
    const fresh = await changeMailbox(box)
    await box.requestSync()
    await box.expectInSync(fresh)

    google.fail({ as: 'daily-limit', on: MAIL.gmail, user: box.email, times: ALWAYS })
    const late = `after the limit of ${box.email}`
    await box.deliver(late)
    await box.requestSync()
    await box.waitForPause(50 * 60_000)
    google.faults.clear()
    await expectOthersUnaffected('gmail')
    await stage.api.call('POST', '/debounced-queue/clear')
    await box.expectInSync([...fresh, late])
    await box.expectAccountEvents()
  })

  it('microsoft: reports required interaction as auth_error until the user consents again', async () => {
    const { microsoft } = fakeProviders(stage)
    const box = await connectTestMailbox(stage, 'microsoft', email())
    microsoft.requireInteraction(box.email)
    microsoft.expireAccessTokens(box.email)
    const fresh = await changeMailbox(box)
    await box.waitForStatus('auth_error')
    await expectOthersUnaffected('microsoft')
    await box.consentAgain()
    await box.expectInSync(fresh)
    await box.expectAccountEvents('account.auth_error', 'account.recovered')
  })

  it('microsoft: does not follow a link to another host, and names the host', async () => {
    const visits: string[] = []
    const foreign = createServer((request, response) => {
      visits.push(String(request.headers.authorization))
      response.end('{}')
    })
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
    const { port } = foreign.address() as AddressInfo
    try {
      const { microsoft } = fakeProviders(stage)
      const box = await connectTestMailbox(stage, 'microsoft', email())
      const fresh = await changeMailbox(box)
      const foreignOrigin = `http://127.0.0.1:${port}`
      microsoft.fail({ as: 'foreign-link', on: /delta/, user: box.email, times: ALWAYS, foreignOrigin })
      // Only the folder with changes has such a link: it fails by itself.
      await box.requestSync()
      await eventually(async () => {
        const state = await stage.api.call<{ unreadable: { items: { kind: string; reason: string }[] } }>(
          'GET',
          `/debounced-queue/accounts/${box.accountId}`,
        )
        expect(state.unreadable.items).toMatchObject([
          { kind: 'folder', reason: expect.stringContaining(`127.0.0.1:${port}`) },
        ])
      })
      await expectOthersUnaffected('microsoft')
      microsoft.faults.clear()
      await box.expectInSync(fresh)
      expect(visits).toEqual([])
    } finally {
      foreign.closeAllConnections()
      await new Promise((resolve) => foreign.close(resolve))
    }
  })
}

/** Requests that fetch listed messages. */
const FETCHED = { gmail: /\/batch|\/messages\//, microsoft: /batch|\/delta/ }
