import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { memoryCache } from '../../../test/kit/cache.ts'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import type { Db } from '../../infra/db/index.ts'
import { createServer } from '../../infra/http/index.ts'
import { silentLog } from '../../infra/log/index.ts'
import { fixedClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { idGenerator } from '../../lib/ids.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../lib/seal.ts'
import { serviceKey } from '../keys/index.ts'
import { idempotency, purgeIdempotencyKeys } from './index.ts'

/** A service with one route whose effect is a row of the jobs table, and whose first half a test may hold up or break. */
async function serve(db: Db) {
  const clock = fixedClock(Date.parse('2026-01-31T08:00:00Z'))
  const secrets = sealer(parseKeyRing(generateKeyRing()))
  const idem = idempotency({ db, clock, sealer: secrets })
  const hooks = { prepare: async (_name: string) => {}, commit: async (_name: string) => {} }
  const app = createServer({
    log: silentLog,
    ids: idGenerator(clock),
    authenticator: serviceKey('secret'),
    idempotency: idem,
    rateLimits: { cache: memoryCache() },
    trustedProxies: [],
  })
  app.post(
    '/things/:kind',
    {
      config: { access: 'key:write' },
      schema: {
        params: Type.Object({ kind: Type.String() }),
        body: Type.Object({ name: Type.String(), size: Type.Optional(Type.Integer()) }),
        response: { 201: Type.Object({ name: Type.String(), number: Type.Integer() }) },
      },
    },
    idem.writing(async (request, reply) => {
      const { name } = request.body
      await hooks.prepare(name)
      reply.code(201)
      return async (tx) => {
        await hooks.commit(name)
        await tx
          .insertInto('jobs')
          .values({
            lane: 'things',
            subject: `${name} ${effects.next++}`,
            state: 'idle',
            runAt: 0,
            again: 0,
            attempts: 0,
            leaseUntil: null,
            lease: null,
            instanceId: null,
            lastRunAt: null,
            lastError: null,
            completed: 0,
            failed: 0,
          })
          .execute()
        return { name, number: effects.next, hidden: 'not in the schema' }
      }
    }),
  )
  const effects = { next: 0 }
  return {
    app,
    clock,
    hooks,
    post: (key: string | undefined, body: object = { name: 'a' }, path = '/things/x') =>
      app.inject({
        method: 'POST',
        url: path,
        headers: { authorization: 'Bearer secret', ...(key !== undefined && { 'idempotency-key': key }) },
        payload: body,
      }),
    async effects() {
      const rows = await db.read.selectFrom('jobs').select('subject').execute()
      return rows.length
    },
    rows: () => db.read.selectFrom('idempotencyKeys').selectAll().execute(),
  }
}

describeEachDatabase('a keyed POST with an Idempotency-Key', (open) => {
  it('has its effect once, and a repeat gets the first answer', async () => {
    const service = await serve(await open())
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
    const service = await serve(await open())
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
    const service = await serve(await open())
    await service.post('k1', { name: 'a', size: 1 })
    const same = await service.post('k1', { size: 1, name: 'a' })
    const other = await service.post('k1', { name: 'a', size: 2 })
    expect(same.statusCode).toBe(201)
    expect(other.statusCode).toBe(422)
    expect(other.json().error.code).toBe('idempotency_mismatch')
    expect(await service.effects()).toBe(1)
  })

  it('refuses a key that is empty or over 256 characters', async () => {
    const service = await serve(await open())
    expect((await service.post('x'.repeat(256))).statusCode).toBe(201)
    for (const key of ['', 'x'.repeat(257)]) {
      const refused = await service.post(key)
      expect(refused.statusCode).toBe(400)
      expect(refused.json().error.details[0].path).toBe('headers.idempotency-key')
    }
  })

  it('makes one effect out of 20 at the same time; the others are told to come again', async () => {
    const service = await serve(await open())
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
    const service = await serve(await open())
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
    const service = await serve(await open())
    let letGo: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let slow: ReturnType<typeof service.post> | undefined
    await new Promise<void>((started) => {
      service.hooks.prepare = () => {
        started()
        return gate
      }
      slow = service.post('k1')
    })
    service.hooks.prepare = async () => {}
    expect((await service.post('k1')).statusCode).toBe(409)
    service.clock.advance(60_000)
    expect((await service.post('k1')).statusCode).toBe(201)
    letGo()
    const late = await slow
    if (late === undefined) throw new Error('never sent')
    expect(late.statusCode).toBe(409)
    expect(late.json().error.code).toBe('idempotency_running')
    expect(await service.effects()).toBe(1)
  })

  it('keeps nothing readable, and says so when an answer is too large to be kept', async () => {
    const service = await serve(await open())
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
    const service = await serve(db)
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
