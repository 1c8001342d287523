import { afterEach, describe, expect, it } from 'vitest'
import { MailboxMirror } from '../../../../test/kit/mailbox/mailbox-mirror.ts'
import { gmailMailbox } from '../../../../test/servers/gmail-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { type Clock, fixedClock, systemClock } from '../../../platform/time/clock.ts'
import { type MailboxSession, ProviderError } from '../../contract/index.ts'

describe('syncing a Gmail mailbox within its quota', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close()
  })

  /** With a fixed clock, a request that would have to wait for its quota fails at once, so that the test can let the time pass. */
  async function mailbox(clock: Clock = systemClock) {
    const limits = { rest: { waitMs: 1, urgentTimeoutMs: 5000 }, burst: 1e9 }
    const box = await gmailMailbox(clock === systemClock ? {} : limits, clock)
    open.push({
      async close() {
        await box.mail.closeConnections()
        await box.stop()
      },
    })
    const session = box.mail.openSession(box.access)
    const fetches = () =>
      box.google.calls
        .matching({ part: true })
        .filter(({ status }) => status === 200)
        .map(({ path }) => /messages\/(\w+)/.exec(path)?.[1] ?? '')
    return { ...box, session, fetches }
  }

  async function deliver(box: Awaited<ReturnType<typeof mailbox>>, count: number): Promise<string[]> {
    const ids: string[] = []
    for (let at = 0; at < count; at += 1) ids.push(await box.deliver(plainMail({ subject: `mail ${at}` })))
    return ids
  }

  /** Syncs until nothing is left, waiting as long as each failure says. Returns the number of syncs. */
  async function syncAll(mirror: MailboxMirror, session: MailboxSession, clock: ReturnType<typeof fixedClock>) {
    for (let syncs = 1; ; syncs += 1) {
      try {
        await mirror.sync(session)
        return syncs
      } catch (error) {
        if (!(error instanceof ProviderError) || error.kind !== 'rate_limited' || syncs > 100) throw error
        clock.advance(error.retryAfterMs ?? 1000)
      }
    }
  }

  it('stores a first sync and a burst of new mail without a refusal, and fetches nothing twice', async () => {
    const clock = fixedClock(Date.now())
    const box = await mailbox(clock)
    box.google.quota.limit({ unitsPerMinute: 6000 })
    const first = await deliver(box, 500)
    const mirror = new MailboxMirror()
    const syncs = await syncAll(mirror, box.session, clock)
    expect(syncs).toBeGreaterThan(1)
    expect([...mirror.rows.keys()].sort()).toEqual([...first].sort())
    const burst = await deliver(box, 400)
    await syncAll(mirror, box.session, clock)
    expect(mirror.rows.size).toBe(900)
    expect(burst.every((id) => mirror.rows.get(id)?.announced)).toBe(true)
    expect(box.google.quota.total(box.user).refused).toBe(0)
    expect(box.fetches().sort()).toEqual([...first, ...burst].sort())
  })

  it('learns a smaller quota from refusals, stores what it has before it fails, and fetches nothing twice', async () => {
    const clock = fixedClock(Date.now())
    const box = await mailbox(clock)
    box.google.quota.limit({ unitsPerMinute: 1500 })
    const ids = await deliver(box, 150)
    const mirror = new MailboxMirror()
    await expect(mirror.sync(box.session)).rejects.toMatchObject({ kind: 'rate_limited' })
    expect(mirror.rows.size).toBe(74)
    expect(box.fetches()).toHaveLength(74)
    await syncAll(mirror, box.session, clock)
    expect(box.fetches().sort()).toEqual(ids.sort())
    expect(mirror.rows.size).toBe(150)
  })

  it('takes the limit that a refusal names for its own', async () => {
    const clock = fixedClock(Date.now())
    const box = await mailbox(clock)
    box.google.quota.limit({ unitsPerMinute: 1000, namesLimit: true })
    await deliver(box, 200)
    const mirror = new MailboxMirror()
    await syncAll(mirror, box.session, clock)
    expect(mirror.rows.size).toBe(200)
    // All but the first refusal are avoided.
    expect(box.google.quota.total(box.user).refused).toBeLessThan(30)
  })

  it('reports changes of messages that it stored before it failed', async () => {
    const clock = fixedClock(Date.now())
    const box = await mailbox(clock)
    const mirror = new MailboxMirror()
    await mirror.sync(box.session)
    const ids = await deliver(box, 60)
    box.google.quota.limit({ unitsPerMinute: 700 })
    await expect(mirror.sync(box.session)).rejects.toMatchObject({ kind: 'rate_limited' })
    const [stored = ''] = mirror.rows.keys()
    const unstored = ids.find((id) => !mirror.rows.has(id)) ?? ''
    for (const id of [stored, unstored]) await box.setStarred(id, true)
    const [, deleted = ''] = mirror.rows.keys()
    await box.remove(deleted)
    box.google.quota.limit({})
    await syncAll(mirror, box.session, clock)
    expect([mirror.rows.get(stored)?.message.starred, mirror.rows.get(unstored)?.message.starred]).toEqual([true, true])
    expect([...mirror.rows.keys()].sort()).toEqual(ids.filter((id) => id !== deleted).sort())
    expect(new Set(box.fetches()).size).toBe(box.fetches().length)
  })

  it('answers live reads in the middle of a first sync', async () => {
    const clock = fixedClock(Date.now())
    const box = await mailbox(clock)
    box.google.quota.limit({ unitsPerMinute: 6000 })
    const [id = ''] = await deliver(box, 400)
    await expect(new MailboxMirror().sync(box.session)).rejects.toMatchObject({ kind: 'rate_limited' })
    const live = box.mail.liveReads(box.access)
    for (let reads = 0; reads < 20; reads += 1) await live.getBody({ providerMessageId: id })
    const { signal } = new AbortController()
    expect((await live.search({ search: { subject: ['mail'] }, limit: 20, signal })).found).toHaveLength(20)
    expect(box.google.quota.total(box.user).refused).toBe(0)
  })

  it.each([{ unitsPerSecond: 400 }, { concurrent: 20 }])(
    'makes batches smaller while Gmail refuses parts: %j',
    async (limits) => {
      const box = await mailbox()
      box.google.quota.limit(limits)
      const ids = await deliver(box, 80)
      const mirror = new MailboxMirror()
      await mirror.sync(box.session)
      expect(mirror.rows.size).toBe(80)
      expect(box.fetches().sort()).toEqual(ids.sort())
      // The five parts that the first batch had too many.
      expect(box.google.quota.total(box.user).refused).toBeLessThanOrEqual(6)
    },
  )

  it('contacts Gmail only after the time that a refusal names', async () => {
    const clock = fixedClock(Date.now())
    const box = await mailbox(clock)
    box.google.fail({ as: 'rate-limited-until', on: /labels/, retryAfter: 900 })
    const until = { kind: 'rate_limited', retryAfterMs: expect.closeTo(900_000, -4) }
    await expect(new MailboxMirror().sync(box.session)).rejects.toMatchObject(until)
    clock.advance(800_000)
    box.google.calls.clear()
    await expect(new MailboxMirror().sync(box.session)).rejects.toMatchObject({ kind: 'rate_limited' })
    expect(box.google.calls.total()).toBe(0)
    clock.advance(110_000)
    await new MailboxMirror().sync(box.session)
  })
})
