import { describe, expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { testServer } from '../../../test/kit/server.ts'
import { webhookHouse } from '../../../test/kit/webhooks.ts'
import { databaseLanes } from '../../infra/lanes/index.ts'
import { silentLog } from '../../infra/log/index.ts'
import { fixedClock } from '../../lib/clock.ts'
import { notFound } from '../../lib/errors.ts'
import { idempotency } from '../idempotency/index.ts'
import { debouncedQueueRoutes } from './debounced-queue-routes.ts'
import { syncLane } from './deps.ts'
import { hosts } from './hosts.ts'

const ACCOUNTS = ['acc_well', 'acc_ill', 'acc_other', 'acc_new']

describeEachDatabase('the debounced queue over HTTP', (open) => {
  async function serve() {
    const house = closing(webhookHouse(await open()))
    const { db, bus, clock, ids } = house
    const log = silentLog
    const queue = closing(databaseLanes({ db, bus, clock, ids, log, instanceId: 'ins_a', pollMs: 500 }))
    const app = testServer()
    closing({ close: () => app.close() })
    const resolve = async (_handle: unknown, id: string) => {
      if (!ACCOUNTS.includes(id)) throw notFound('account', id)
      return { id, provider: 'imap' as const }
    }
    const writing = idempotency({ db, clock: house.clock, sealer: house.sealer })
    debouncedQueueRoutes(app, { db, queue, bus, accounts: { resolve }, idempotency: writing })
    const call = async (method: 'GET' | 'POST', url: string, key = 'good') => {
      const answer = await app.inject({ method, url, headers: { authorization: `Bearer ${key}` } })
      return { status: answer.statusCode, body: answer.json() }
    }
    return { house, queue, call }
  }

  /** Two instances' lanes: one account works, one fails, one belongs to the other instance. */
  async function busy() {
    const world = await serve()
    const { queue } = world
    const runs: string[] = []
    closingWorker(
      queue.work(syncLane('ins_a'), { concurrency: 4 }, async (accountId) => {
        runs.push(accountId)
        if (accountId === 'acc_ill') throw new Error('the mail server is away')
        return { nextRunInMs: 60_000 }
      }),
    )
    await queue.add(syncLane('ins_a'), 'acc_well')
    await queue.add(syncLane('ins_a'), 'acc_ill')
    await queue.add(syncLane('ins_b'), 'acc_other', { delayMs: 60_000 })
    await queue.add('deliver', 'whe_1', { delayMs: 60_000 })
    await eventually(async () => {
      expect((await queue.find(syncLane('ins_a'), 'acc_ill'))?.attempts).toBeGreaterThan(0)
      expect((await queue.find(syncLane('ins_a'), 'acc_well'))?.lastRunAt).not.toBeNull()
    })
    return { ...world, runs }
  }

  it('tells the figures of all instances together, and of nothing else', async () => {
    const { call } = await busy()
    const { status, body } = await call('GET', '/debounced-queue/status')
    expect(status).toBe(200)
    expect(body).toEqual({
      provider: 'database',
      waiting: expect.any(Number),
      active: expect.any(Number),
      delayed: expect.any(Number),
      completed: 1,
      failed: expect.any(Number),
      paused: false,
      accounts: 3,
    })
    expect(body.waiting + body.active + body.delayed).toBe(3)
    expect(body.failed).toBeGreaterThan(0)
  })

  it('tells how one account stands, whichever instance has it', async () => {
    const { call } = await busy()
    expect((await call('GET', '/debounced-queue/accounts/acc_ill')).body).toMatchObject({
      accountId: 'acc_ill',
      pending: 1,
      lastRunAt: expect.stringMatching(/Z$/),
      nextRunAt: expect.stringMatching(/Z$/),
      lastError: 'the mail server is away',
    })
    expect((await call('GET', '/debounced-queue/accounts/acc_well')).body).toMatchObject({
      state: 'waiting',
      pending: 1,
      attempts: 0,
      lastError: null,
    })
    const other = (await call('GET', '/debounced-queue/accounts/acc_other')).body
    expect(other).toMatchObject({ state: 'waiting', pending: 1, lastRunAt: null })
    expect((await call('GET', '/debounced-queue/accounts/acc_new')).body).toEqual({
      accountId: 'acc_new',
      state: 'idle',
      pending: 0,
      lastRunAt: null,
      nextRunAt: null,
      attempts: 0,
      lastError: null,
    })
    const unknown = await call('GET', '/debounced-queue/accounts/acc_unknown')
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
  })

  it('clears pauses so that accounts run now, and touches no delivery', async () => {
    const { call, queue, runs, house } = await busy()
    await house.create({ url: 'https://127.0.0.1:1/hook', isActive: false })
    const endpointJob = await queue.find('deliver', 'whe_1')
    const before = runs.filter((id) => id === 'acc_well').length
    const { status, body } = await call('POST', '/debounced-queue/clear')
    expect([status, body.success]).toEqual([200, true])
    // The failing one may be running at this moment.
    expect(body.cleared).toBeGreaterThanOrEqual(2)
    await eventually(() => expect(runs.filter((id) => id === 'acc_well').length).toBe(before + 1))
    expect(await queue.find('deliver', 'whe_1')).toEqual(endpointJob)
    expect((await queue.find(syncLane('ins_b'), 'acc_other'))?.nextRunAt).toBeLessThanOrEqual(Date.now())
  })

  it('says that it is empty when nobody works', async () => {
    const { call } = await serve()
    const zero = { waiting: 0, active: 0, delayed: 0, completed: 0, failed: 0, accounts: 0 }
    expect((await call('GET', '/debounced-queue/status')).body).toEqual({
      provider: 'database',
      paused: false,
      ...zero,
    })
    expect((await call('POST', '/debounced-queue/clear')).body).toEqual({ success: true, cleared: 0 })
  })

  it('asks for the key', async () => {
    const { call } = await serve()
    for (const path of ['/debounced-queue/status', '/debounced-queue/accounts/acc_new']) {
      expect((await call('GET', path, 'wrong')).status).toBe(401)
    }
    expect((await call('POST', '/debounced-queue/clear', 'reader')).status).toBe(403)
  })
})

function closingWorker(worker: { stop(graceMs: number): Promise<void> }): void {
  closing({ close: () => worker.stop(0) })
}

describe('a host that could not be reached', () => {
  it('is tried at once after it was reopened', () => {
    const clock = fixedClock(0)
    const known = hosts(clock, 4)
    const first = known.enter('mail.example', false)
    if (first.admitted) first.leave('down')
    expect(known.enter('mail.example', false).admitted).toBe(false)
    known.reopen()
    expect(known.enter('mail.example', false).admitted).toBe(true)
    expect(known.failures('mail.example')).toBe(1)
  })
})
