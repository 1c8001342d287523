import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase, type Place } from '../../../test/kit/database/database.ts'
import { api } from '../../../test/kit/http/http.ts'
import {
  countEffects,
  idempotencyServer,
  type RequestHooks,
  SERVER_KEY,
} from '../../../test/kit/http/idempotency-server.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import { purgeIdempotencyKeys } from './store.ts'

/** Serves the sample resource with a fixed clock. Tests can replace the hooks. */
function serve(db: Db, ring = generateKeyRing(), clock = fixedClock(Date.parse('2026-01-31T08:00:00Z'))) {
  const hooks: RequestHooks = { prepare: async () => {}, commit: async () => {} }
  const app = idempotencyServer({ db, clock, sealer: sealer(parseKeyRing(ring)), hooks })
  onTestFinished(async () => {
    await app.close()
  })
  return {
    clock,
    hooks,
    post: (key: string | undefined, body: object = { name: 'a' }, path = '/things/x') =>
      app.inject({
        method: 'POST',
        url: path,
        headers: { authorization: `Bearer ${SERVER_KEY}`, ...(key !== undefined && { 'idempotency-key': key }) },
        payload: body,
      }),
    effects: () => countEffects(db),
    rows: () => db.read.selectFrom('idempotencyKeys').selectAll().execute(),
  }
}

describeEachDatabase('a POST with an Idempotency-Key', (open) => {
  it('takes effect once, and a duplicate gets the first response', async () => {
    const service = serve(await open())
    const first = await service.post('k1')
    const repeat = await service.post('k1')
    expect(first.statusCode).toBe(201)
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    expect(repeat.statusCode).toBe(201)
    expect(repeat.headers['idempotent-replayed']).toBe('true')
    expect(repeat.body).toBe(first.body)
    expect(first.json()).toEqual({ name: 'a', number: 1 })
    expect(await service.effects()).toBe(1)
  })

  it('is identified by key owner, path and key for 24 hours', async () => {
    const service = serve(await open())
    await service.post('k1')
    await service.post('k2')
    await service.post('k1', { name: 'a' }, '/things/y')
    await service.post(undefined)
    await service.post(undefined)
    expect(await service.effects()).toBe(5)
    service.clock.advance(24 * 60 * 60 * 1000)
    const later = await service.post('k1')
    expect(later.headers['idempotent-replayed']).toBeUndefined()
    expect(await service.effects()).toBe(6)
  })

  it('rejects the same key with another body, but ignores the order of members', async () => {
    const service = serve(await open())
    await service.post('k1', { name: 'a', size: 1 })
    const same = await service.post('k1', { size: 1, name: 'a' })
    const other = await service.post('k1', { name: 'a', size: 2 })
    expect(same.statusCode).toBe(201)
    expect(other.statusCode).toBe(422)
    expect(other.json().error.code).toBe('idempotency_mismatch')
    expect(await service.effects()).toBe(1)
  })

  it('rejects a key that is empty or longer than 256 characters', async () => {
    const service = serve(await open())
    expect((await service.post('x'.repeat(256))).statusCode).toBe(201)
    for (const key of ['', 'x'.repeat(257)]) {
      const refused = await service.post(key)
      expect(refused.statusCode).toBe(400)
      expect(refused.json().error.details[0].path).toBe('headers.idempotency-key')
    }
  })

  it('takes effect once for 20 parallel requests; the others get 409 with Retry-After', async () => {
    const service = serve(await open())
    const all = await Promise.all(Array.from({ length: 20 }, () => service.post('k1')))
    const accepted = all.filter((response) => response.statusCode === 201)
    const rejected = all.filter((response) => response.statusCode === 409)
    expect(accepted.length + rejected.length).toBe(20)
    expect(accepted.filter((response) => response.headers['idempotent-replayed'] === undefined)).toHaveLength(1)
    expect(rejected.every((response) => response.headers['retry-after'] === '1')).toBe(true)
    expect(await service.effects()).toBe(1)
    expect((await service.post('k1')).headers['idempotent-replayed']).toBe('true')
  })

  it('stores a rejection, but not a server error or a rate limit', async () => {
    const service = serve(await open())
    service.hooks.commit = async () => {
      throw new AppError('conflict', { message: 'taken', details: [{ path: 'body.name', message: 'is taken' }] })
    }
    expect((await service.post('kept')).statusCode).toBe(409)
    service.hooks.prepare = async () => {
      throw new AppError('rate_limited')
    }
    expect((await service.post('pace')).statusCode).toBe(429)
    service.hooks.prepare = async () => {
      throw new Error('the remote side broke')
    }
    expect((await service.post('broken')).statusCode).toBe(500)

    service.hooks.prepare = async () => {}
    service.hooks.commit = async () => {}
    const repeat = await service.post('kept')
    expect(repeat.statusCode).toBe(409)
    expect(repeat.headers['idempotent-replayed']).toBe('true')
    expect(repeat.json().error).toEqual({
      code: 'conflict',
      type: 'api',
      message: 'taken',
      details: [{ path: 'body.name', message: 'is taken' }],
      docUrl: expect.stringMatching(/\/docs\/errors#conflict$/),
    })
    expect((await service.post('pace')).statusCode).toBe(201)
    expect((await service.post('broken')).statusCode).toBe(201)
    expect(await service.effects()).toBe(2)
  })

  it('lets a duplicate start over after the lease, and rolls back the late first request', async () => {
    const service = serve(await open())
    /** Sends the request and holds it in `prepare` until `go` is called. */
    async function sendAndHold(): Promise<{ response: ReturnType<typeof service.post>; go: () => void }> {
      let go: () => void = () => {}
      const gate = new Promise<void>((resolve) => {
        go = resolve
      })
      const arrived = new Promise<void>((resolve) => {
        service.hooks.prepare = () => {
          resolve()
          return gate
        }
      })
      const response = service.post('k1')
      void response.catch(() => {})
      await arrived
      return { response, go }
    }
    const first = await sendAndHold()
    expect((await service.post('k1')).statusCode).toBe(409)
    service.clock.advance(60_000)
    const repeat = await sendAndHold()
    first.go()
    const late = await first.response
    expect([late.statusCode, late.json().error.code]).toEqual([409, 'idempotency_running'])
    expect(await service.effects()).toBe(0)
    repeat.go()
    expect((await repeat.response).statusCode).toBe(201)
    expect(await service.effects()).toBe(1)
  })

  it('stores nothing readable, and returns 409 when the first response was too large to store', async () => {
    const service = serve(await open())
    await service.post('k1', { name: 'a visible name' })
    expect(JSON.stringify(await service.rows())).not.toContain('visible')
    const long = { name: 'x'.repeat(65 * 1024) }
    expect((await service.post('k2', long)).statusCode).toBe(201)
    const repeat = await service.post('k2', long)
    expect(repeat.statusCode).toBe(409)
    expect(repeat.headers['idempotent-replayed']).toBe('true')
    expect(repeat.json().error.message).toContain('status 201')
    expect(await service.effects()).toBe(2)
  })

  it('deletes expired keys in batches', async () => {
    const db = await open()
    const service = serve(db)
    for (const key of ['old 1', 'old 2', 'old 3']) await service.post(key)
    service.clock.advance(23 * 60 * 60 * 1000)
    await service.post('young')
    service.clock.advance(60 * 60 * 1000)
    const purge = () => db.transaction((tx) => purgeIdempotencyKeys(tx, service.clock.now(), 2))
    expect([await purge(), await purge()]).toEqual([2, 1])
    expect(await service.rows()).toHaveLength(1)
    expect((await service.post('young')).headers['idempotent-replayed']).toBe('true')
  })
})

const PROCESS_TEST_MS = 60_000

/** Runs the same server as a process that kills itself during its first request. Resolves when it has exited. */
async function requestThatKills(moment: 'commit' | 'response', place: Place, ring: string): Promise<void> {
  const database = place.databaseUrl ?? join(place.dataDir, 'posthorn.db')
  const child = startWorker('crashing-service-worker', [moment, database, ring])
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const [address] = await once(child.stdout, 'data')
  const client = api(String(address).trim(), SERVER_KEY)
  await expect(client.post('/things/x', { name: 'a' }, { 'idempotency-key': 'k1' })).rejects.toThrow()
  await exited
}

describeEachDatabase('a process killed during a POST with an Idempotency-Key', (open) => {
  it(
    'before the commit leaves no effect, and a retry succeeds once the lease has expired',
    async () => {
      const place = await open.place()
      const ring = generateKeyRing()
      await requestThatKills('commit', place, ring)
      const service = serve(await open(place), ring, fixedClock(Date.now()))
      expect(await service.effects()).toBe(0)
      expect((await service.post('k1')).json().error.code).toBe('idempotency_running')
      service.clock.advance(60_000)
      const repeat = await service.post('k1')
      expect([repeat.statusCode, repeat.headers['idempotent-replayed']]).toEqual([201, undefined])
      expect(await service.effects()).toBe(1)
    },
    PROCESS_TEST_MS,
  )

  it(
    'after the commit returns the stored response to a retry',
    async () => {
      const place = await open.place()
      const ring = generateKeyRing()
      await requestThatKills('response', place, ring)
      const service = serve(await open(place), ring, fixedClock(Date.now()))
      const repeat = await service.post('k1')
      expect([repeat.statusCode, repeat.headers['idempotent-replayed']]).toEqual([201, 'true'])
      expect(repeat.json()).toEqual({ name: 'a', number: 1 })
      expect(await service.effects()).toBe(1)
    },
    PROCESS_TEST_MS,
  )
})
