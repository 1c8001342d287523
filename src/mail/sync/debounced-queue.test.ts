import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { MailboxDouble } from '../../../test/kit/mailbox/double/mailbox-double.ts'
import { syncService } from '../../../test/kit/mailbox/sync.ts'
import { idempotency } from '../../operations/idempotency/index.ts'
import { memoryBus } from '../../platform/bus/index.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../platform/crypto/seal.ts'
import { silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { debouncedQueueRoutes } from './routes.ts'
import { syncStateStore } from './store.ts'

const HOUR = 3_600_000

describeEachDatabase('the debounced queue over HTTP', (open) => {
  async function serve() {
    const db = await open()
    const bus = memoryBus({ log: silentLog })
    const box = new MailboxDouble('whole')
    const mail = {
      ...box.mail,
      openSession(access: Parameters<typeof box.mail.openSession>[0]) {
        if (access.email.startsWith('ill')) throw new ProviderError('unavailable', 'the mail server is away')
        return box.mail.openSession(access)
      },
    }
    const owning = { soleProcess: false, deadAfterMs: HOUR, roundMs: 50 }
    const service = syncService(db, { instanceId: 'ins_a', bus, mail, owning })
    closing({ close: () => service.stop() })
    const app = testServer()
    closing({ close: () => app.close() })
    const writing = idempotency({ db, clock: systemClock, sealer: sealer(parseKeyRing(generateKeyRing())) })
    const { accounts, sync } = service
    debouncedQueueRoutes(app, {
      db,
      bus,
      instanceId: 'ins_a',
      accounts,
      sync,
      idempotency: writing,
      queue: { provider: 'database' },
    })
    const call = async (method: 'GET' | 'POST', url: string, key = 'good') => {
      const response = await app.inject({ method, url, headers: { authorization: `Bearer ${key}` } })
      return { status: response.statusCode, body: response.json() }
    }
    return { db, bus, service, box, call }
  }

  /** Two instances. This one owns an account that works and one that fails, the other owns two that have not run recently. */
  async function busy() {
    const world = await serve()
    const { db, service } = world
    const [well, ill, other, fresh] = [
      await service.linkMailbox('gmail', 'well'),
      await service.linkMailbox('gmail', 'ill'),
      await service.linkMailbox('gmail', 'other'),
      await service.linkMailbox('gmail', 'fresh'),
    ]
    const syncTotals = JSON.stringify({ accounts: 2, waiting: 0, active: 0, delayed: 2, completed: 7, failed: 1 })
    await db.transaction(async (tx) => {
      const row = { id: 'ins_b', heartbeatAt: db.dialect.nowMs, startedAt: db.dialect.nowMs, syncTotals }
      await tx.insertInto('instances').values(row).execute()
      await tx.updateTable('accounts').set({ ownerInstance: 'ins_b' }).where('id', 'in', [other, fresh]).execute()
      const state = {
        attempts: 2,
        lastRunAt: 1000,
        nextRunAt: 2000,
        lastError: 'temporary failure',
        limitViolations: 0,
      }
      await syncStateStore(tx).save({ accountId: other, ...state })
    })
    await service.start()
    await eventually(() => {
      expect(service.sync.state(ill)?.attempts).toBeGreaterThan(0)
      expect(service.sync.state(well)).toMatchObject({ state: 'waiting', attempts: 0, lastRunAt: expect.any(Number) })
    })
    return { ...world, well, ill, other, fresh }
  }

  it('adds up the totals of all instances', async () => {
    const { call } = await busy()
    const { status, body } = await call('GET', '/debounced-queue/status')
    expect(status).toBe(200)
    expect(body).toEqual({
      provider: 'database',
      waiting: expect.any(Number),
      active: expect.any(Number),
      delayed: expect.any(Number),
      completed: 8,
      failed: expect.any(Number),
      paused: false,
      accounts: 4,
    })
    expect(body.waiting + body.active + body.delayed).toBe(4)
    expect(body.failed).toBeGreaterThan(1)
  })

  it('stores its own totals for the other instances with its heartbeat', async () => {
    const { db } = await busy()
    await eventually(async () => {
      const row = await db.read
        .selectFrom('instances')
        .select('syncTotals')
        .where('id', '=', 'ins_a')
        .executeTakeFirstOrThrow()
      expect(JSON.parse(row.syncTotals ?? '{}')).toMatchObject({ accounts: 2, completed: 1 })
    })
  })

  it('returns the state of an account owned by any instance', async () => {
    const { call, well, ill, other, fresh } = await busy()
    expect((await call('GET', `/debounced-queue/accounts/${ill}`)).body).toMatchObject({
      accountId: ill,
      lastRunAt: expect.stringMatching(/Z$/),
      lastError: 'the mail server is away',
    })
    expect((await call('GET', `/debounced-queue/accounts/${well}`)).body).toMatchObject({
      state: 'waiting',
      pending: 1,
      attempts: 0,
      lastError: null,
      lagMs: 0,
      watch: 'poll',
    })
    expect((await call('GET', `/debounced-queue/accounts/${other}`)).body).toEqual({
      accountId: other,
      state: 'waiting',
      pending: 1,
      attempts: 2,
      lastRunAt: '1970-01-01T00:00:01.000Z',
      nextRunAt: '1970-01-01T00:00:02.000Z',
      lastError: 'temporary failure',
      unreadable: { count: 0, items: [] },
      lagMs: null,
      watch: null,
    })
    expect((await call('GET', `/debounced-queue/accounts/${fresh}`)).body).toEqual({
      accountId: fresh,
      state: 'idle',
      pending: 0,
      lastRunAt: null,
      nextRunAt: null,
      attempts: 0,
      lastError: null,
      unreadable: { count: 0, items: [] },
      lagMs: null,
      watch: null,
    })
    const unknown = await call('GET', '/debounced-queue/accounts/acc_unknown')
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
  })

  it('stores the failures of an account for the other instances, and clears them after a success', async () => {
    const { db, service, box } = await serve()
    const accountId = await service.linkMailbox('gmail', 'well')
    box.failures.push(new ProviderError('unavailable', 'temporary failure'))
    const stored = () => syncStateStore(db.read).find(accountId)
    await service.start()
    await eventually(async () => {
      const row = await stored()
      expect(row).toMatchObject({ attempts: 0, lastError: null })
    })
    expect(service.sync.totals()).toMatchObject({ completed: 1, failed: 1 })
  })

  it('clear resets failures and delays, runs accounts now and touches no job', async () => {
    const { call, db, service, box, well, ill, other } = await busy()
    await service.queue.add('deliver', 'whe_1', { delayMs: 60_000 })
    const jobs = await db.read.selectFrom('jobs').selectAll().execute()
    const before = box.calls.length
    expect(await call('POST', '/debounced-queue/clear')).toEqual({ status: 200, body: { success: true, cleared: 4 } })
    await eventually(() => expect(box.calls.length).toBeGreaterThan(before))
    await eventually(async () => {
      const rows = await db.read.selectFrom('accounts').select(['id', 'syncRequestedAt']).execute()
      const requested = new Map(rows.map((row) => [row.id, row.syncRequestedAt]))
      expect([requested.get(well), requested.get(ill), requested.get(other)]).toEqual([
        null,
        expect.any(Number),
        expect.any(Number),
      ])
    })
    expect(await db.read.selectFrom('jobs').selectAll().execute()).toEqual(jobs)
  })

  it('returns zeros when there is no account', async () => {
    const { call } = await serve()
    const zero = { waiting: 0, active: 0, delayed: 0, completed: 0, failed: 0, accounts: 0 }
    expect((await call('GET', '/debounced-queue/status')).body).toEqual({
      provider: 'database',
      paused: false,
      ...zero,
    })
    expect((await call('POST', '/debounced-queue/clear')).body).toEqual({ success: true, cleared: 0 })
  })

  it('requires an API key', async () => {
    const { call } = await serve()
    for (const path of ['/debounced-queue/status', '/debounced-queue/accounts/acc_new']) {
      expect((await call('GET', path, 'wrong')).status).toBe(401)
    }
    expect((await call('POST', '/debounced-queue/clear', 'reader')).status).toBe(403)
  })
})
