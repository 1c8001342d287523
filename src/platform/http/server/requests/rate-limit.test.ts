import * as Type from 'typebox'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { testServer } from '../../../../../test/kit/http/server.ts'
import { memoryCache } from '../../../cache/index.ts'
import { systemClock } from '../../../time/clock.ts'
import { type App, clientBlock, type ServerOptions } from '../../index.ts'

let app: App
afterEach(() => app.close())

function serve(options: Partial<ServerOptions> = {}) {
  app = testServer({ trustedProxies: ['127.0.0.1'], ...options })
  const body = Type.Object({ session: Type.String() })
  const subject = (request: { body: unknown }) => (request.body as { session: string }).session
  app.post(
    '/form',
    {
      config: {
        access: 'public',
        rateLimit: {
          name: 'form',
          address: { limit: 3, windowMs: 60_000 },
          subject: { limit: 2, windowMs: 10_000, of: subject },
        },
      },
      schema: { body },
    },
    async () => ({}),
  )
  app.get(
    '/form/help',
    { config: { access: 'public', rateLimit: { name: 'form', address: { limit: 3, windowMs: 60_000 } } } },
    async () => ({}),
  )
  app.get('/things', { config: { access: 'key:read' } }, async () => ({}))
  app.get('/page', { config: { access: 'session' } }, async () => ({}))
  return {
    post: (session: unknown, address = '203.0.113.1') =>
      app.inject({ method: 'POST', url: '/form', headers: { 'x-forwarded-for': address }, payload: { session } }),
    help: (address = '203.0.113.1') => app.inject({ url: '/form/help', headers: { 'x-forwarded-for': address } }),
    things: (key: string) => app.inject({ url: '/things', headers: { authorization: `Bearer ${key}` } }),
  }
}

describe('the buckets of a public route', () => {
  it('limit an address over all routes that share the name, invalid requests included', async () => {
    const { post, help } = serve()
    expect((await post(5)).statusCode).toBe(400)
    expect((await post('a')).statusCode).toBe(200)
    const last = await help()
    expect(last.headers['ratelimit-limit']).toBe('3')
    expect(last.headers['ratelimit-remaining']).toBe('0')
    const refused = await post('b')
    expect(refused.statusCode).toBe(429)
    expect(refused.json().error.code).toBe('rate_limited')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect((await post('b', '203.0.113.2')).statusCode).toBe(200)
  })

  it('limit a session over all addresses, and report the tighter bucket', async () => {
    const { post } = serve()
    const first = await post('secret-code', '203.0.113.1')
    expect([first.headers['ratelimit-remaining'], first.headers['ratelimit-policy']]).toEqual(['1', '2;w=10'])
    await post('secret-code', '203.0.113.2')
    expect((await post('secret-code', '203.0.113.3')).statusCode).toBe(429)
    expect((await post('other', '203.0.113.3')).statusCode).toBe(200)
  })

  it('count the addresses of one IPv6 network as one client', async () => {
    const { post } = serve()
    for (const host of ['1', '2', '3']) await post(host, `2001:db8:0:1::${host}`)
    expect((await post('4', '2001:db8:0:1:ffff::9')).statusCode).toBe(429)
    expect((await post('5', '2001:db8:0:2::1')).statusCode).toBe(200)
    expect(clientBlock('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(clientBlock('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(clientBlock('not an address')).toBe('not an address')
  })

  it('keep no session code in the cache', async () => {
    const keys: string[] = []
    const cache = memoryCache({ clock: systemClock })
    const { post } = serve({
      rateLimits: {
        cache: {
          ...cache,
          increment(key, ttlMs) {
            keys.push(key)
            return cache.increment(key, ttlMs)
          },
        },
      },
    })
    await post('secret-code')
    expect(keys).toHaveLength(2)
    expect(keys.join()).not.toContain('secret-code')
  })

  it('count in this process when the cache fails', async () => {
    const broken = () => Promise.reject(new Error('the cache is down'))
    const { post } = serve({
      rateLimits: { cache: { ...memoryCache({ clock: systemClock }), provider: 'redis', increment: broken } },
    })
    for (const session of ['1', '2', '3']) expect((await post(session)).statusCode).toBe(200)
    expect((await post('4')).statusCode).toBe(429)
  })
})

describe('wrong keys', () => {
  const request = (url: string, key: string | undefined, address = '203.0.113.1') =>
    app.inject({
      url,
      headers: { 'x-forwarded-for': address, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    })

  it('are limited to 20 per minute and address, on every route that accepts a key', async () => {
    serve()
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await request('/things', `wrong-${attempt}`)).statusCode).toBe(401)
      expect((await request('/page', `wrong-${attempt}`)).statusCode).toBe(200)
    }
    const refused = await request('/things', 'wrong')
    expect([refused.statusCode, refused.json().error.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50)
    expect((await request('/page', 'wrong')).statusCode).toBe(429)
    expect(
      (
        await app.inject({
          method: 'PUT',
          url: '/things',
          headers: { 'x-forwarded-for': '203.0.113.1', 'x-api-key': 'wrong' },
        })
      ).statusCode,
    ).toBe(429)
    expect((await request('/things', 'wrong', '203.0.113.2')).statusCode).toBe(401)
  })

  it('do not lock out the valid key from the same address, nor requests without a key', async () => {
    serve()
    for (let attempt = 0; attempt < 30; attempt += 1) await request('/things', 'wrong')
    expect((await request('/things', 'wrong')).statusCode).toBe(429)
    expect((await request('/things', 'good')).statusCode).toBe(200)
    expect((await request('/things', undefined)).statusCode).toBe(401)
    expect((await request('/page', undefined)).statusCode).toBe(200)
  })
})

describe('the bucket of a key', () => {
  it('is shared by all replicas on one cache', async () => {
    const rateLimits = { cache: memoryCache({ clock: systemClock }), api: { limit: 3, windowMs: 60_000 } }
    const server = serve({ rateLimits })
    const first = app
    const other = serve({ rateLimits })
    onTestFinished(() => first.close())
    await server.things('good')
    await other.things('good')
    expect((await server.things('good')).headers['ratelimit-remaining']).toBe('0')
    expect((await other.things('good')).statusCode).toBe(429)
  })

  it('is off by default, and counts each key separately when it is on', async () => {
    const off = serve()
    expect((await off.things('good')).headers['ratelimit-limit']).toBeUndefined()
    await app.close()
    const on = serve({
      rateLimits: { cache: memoryCache({ clock: systemClock }), api: { limit: 2, windowMs: 60_000 } },
    })
    await on.things('good')
    expect((await on.things('good')).headers['ratelimit-remaining']).toBe('0')
    const refused = await on.things('good')
    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({
      'retry-after': refused.headers['ratelimit-reset'],
      'ratelimit-limit': '2',
      'ratelimit-remaining': '0',
      'ratelimit-policy': '2;w=60',
    })
    expect((await on.things('reader')).statusCode).toBe(200)
    expect((await on.things('unknown')).statusCode).toBe(401)
  })
})
