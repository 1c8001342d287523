import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase, type Place } from '../../../test/kit/database.ts'
import { api } from '../../../test/kit/http.ts'
import { countThings, type Moments, THINGS_KEY, thingsServer } from '../../../test/kit/things-server.ts'
import type { Db } from '../../infra/db/index.ts'
import { fixedClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../lib/seal.ts'
import { purgeIdempotencyKeys } from './index.ts'

/** The server of things, with a clock that stands still and moments that a test may replace. */
function serve(db: Db, ring = generateKeyRing(), clock = fixedClock(Date.parse('2026-01-31T08:00:00Z'))) {
  const hooks: Moments = { prepare: async () => {}, commit: async () => {} }
  const moments: Moments = { prepare: () => hooks.prepare(), commit: (tx) => hooks.commit(tx) }
  const app = thingsServer({ db, clock, sealer: sealer(parseKeyRing(ring)), moments })
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
        headers: { authorization: `Bearer ${THINGS_KEY}`, ...(key !== undefined && { 'idempotency-key': key }) },
        payload: body,
      }),
    effects: () => countThings(db),
    rows: () => db.read.selectFrom('idempotencyKeys').selectAll().execute(),
  }
}

describeEachDatabase('a keyed POST with an Idempotency-Key', (open) => {
  it('has its effect once, and a repeat gets the first answer', async () => {
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

  it('is one thing per key owner, path and key, and forgotten after 24 hours', async () => {
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

  it('refuses another body under the same key, whatever the order of the members', async () => {
    const service = serve(await open())
    await service.post('k1', { name: 'a', size: 1 })
    const same = await service.post('k1', { size: 1, name: 'a' })
    const other = await service.post('k1', { name: 'a', size: 2 })
    expect(same.statusCode).toBe(201)
    expect(other.statusCode).toBe(422)
    expect(other.json().error.code).toBe('idempotency_mismatch')
    expect(await service.effects()).toBe(1)
  })

  it('refuses a key that is empty or over 256 characters', async () => {
    const service = serve(await open())
    expect((await service.post('x'.repeat(256))).statusCode).toBe(201)
    for (const key of ['', 'x'.repeat(257)]) {
      const refused = await service.post(key)
      expect(refused.statusCode).toBe(400)
      expect(refused.json().error.details[0].path).toBe('headers.idempotency-key')
    }
  })

  it('makes one effect out of 20 at the same time; the others are told to come again', async () => {
    const service = serve(await open())
    const all = await Promise.all(Array.from({ length: 20 }, () => service.post('k1')))
    const made = all.filter((response) => response.statusCode === 201)
    const told = all.filter((response) => response.statusCode === 409)
    expect(made.length + told.length).toBe(20)
    expect(made.filter((response) => response.headers['idempotent-replayed'] === undefined)).toHaveLength(1)
    expect(told.every((response) => response.headers['retry-after'] === '1')).toBe(true)
    expect(await service.effects()).toBe(1)
    expect((await service.post('k1')).headers['idempotent-replayed']).toBe('true')
  })

  it('keeps a refusal of the caller, and not a failure of ours, of the key or of the pace', async () => {
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
    })
    expect((await service.post('pace')).statusCode).toBe(201)
    expect((await service.post('broken')).statusCode).toBe(201)
    expect(await service.effects()).toBe(2)
  })

  it('lets a repeat start over when the lease has run out, and undoes the first that comes back late', async () => {
    const service = serve(await open())
    /** Sends the request and stops it in its first half; `go` lets it on. */
    async function sendAndHold(): Promise<{ answer: ReturnType<typeof service.post>; go: () => void }> {
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
      const answer = service.post('k1')
      void answer.catch(() => {})
      await arrived
      return { answer, go }
    }
    const first = await sendAndHold()
    expect((await service.post('k1')).statusCode).toBe(409)
    service.clock.advance(60_000)
    const repeat = await sendAndHold()
    first.go()
    const late = await first.answer
    expect([late.statusCode, late.json().error.code]).toEqual([409, 'idempotency_running'])
    expect(await service.effects()).toBe(0)
    repeat.go()
    expect((await repeat.answer).statusCode).toBe(201)
    expect(await service.effects()).toBe(1)
  })

  it('keeps nothing readable, and says so when an answer is too large to be kept', async () => {
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

  it('forgets what is over, a batch at a time', async () => {
    const db = await open()
    const service = serve(db)
    for (const key of ['old 1', 'old 2', 'old 3']) await service.post(key)
    service.clock.advance(23 * 60 * 60 * 1000)
    await service.post('young')
    service.clock.advance(60 * 60 * 1000)
    const purge = () => db.transaction((tx) => purgeIdempotencyKeys(tx, service.clock.now(), 2))
    expect([await purge(), await purge()]).toEqual([true, false])
    expect(await service.rows()).toHaveLength(1)
    expect((await service.post('young')).headers['idempotent-replayed']).toBe('true')
  })
})

const PROCESS_TEST_MS = 60_000

/** The same server as a process of its own; resolves when it has killed itself in the midst of its first request. */
async function requestThatKills(moment: 'commit' | 'answer', place: Place, ring: string): Promise<void> {
  const database = place.databaseUrl ?? join(place.dataDir, 'posthorn.db')
  const args = ['--import', 'tsx', 'test/kit/dying-service.ts', moment, database, ring]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const [address] = await once(child.stdout, 'data')
  const client = api(String(address).trim(), THINGS_KEY)
  await expect(client.post('/things/x', { name: 'a' }, { 'idempotency-key': 'k1' })).rejects.toThrow()
  await exited
}

describeEachDatabase('a process that is killed while it answers a keyed POST', (open) => {
  it(
    'before the commit: nothing happened, and a repeat does it once the lease has run out',
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
    'after the commit: a repeat gets the answer nobody heard',
    async () => {
      const place = await open.place()
      const ring = generateKeyRing()
      await requestThatKills('answer', place, ring)
      const service = serve(await open(place), ring, fixedClock(Date.now()))
      const repeat = await service.post('k1')
      expect([repeat.statusCode, repeat.headers['idempotent-replayed']]).toEqual([201, 'true'])
      expect(repeat.json()).toEqual({ name: 'a', number: 1 })
      expect(await service.effects()).toBe(1)
    },
    PROCESS_TEST_MS,
  )
})
