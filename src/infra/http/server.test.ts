import { Type } from 'typebox'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { idGenerator } from '../../lib/ids.ts'
import { type App, createServer } from './index.ts'

const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {}, with: () => silent }
const cache = {
  provider: 'memory' as const,
  get: async () => undefined,
  set: async () => {},
  delete: async () => {},
  increment: async () => ({ count: 1, resetInMs: 1000 }),
  ping: async () => {},
  close: async () => {},
}

let app: App
afterEach(() => app.close())

function serve(add: (app: App) => void): string {
  app = createServer({
    log: silent,
    ids: idGenerator(systemClock),
    authenticator: {
      authenticate: async (request) =>
        request.headers.authorization === 'Bearer good' ? { owner: 'key', scopes: ['read', 'write'] } : undefined,
    },
    idempotency: { isWriting: () => true },
    rateLimits: { cache },
    trustedProxies: [],
  })
  add(app)
  return 'Bearer good'
}

describe('the server', () => {
  it('asks for the key before it looks at anything else', async () => {
    const authorization = serve((server) => {
      server.post(
        '/things/:id',
        { config: { access: 'key:write' }, schema: { body: Type.Object({ name: Type.String({ minLength: 1 }) }) } },
        async (request) => ({ name: request.body.name }),
      )
    })
    const url = '/things/1'
    const without = await app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: '{',
    })
    expect(without.statusCode).toBe(401)
    expect(without.headers['www-authenticate']).toBe('Bearer')
    expect((await app.inject({ method: 'PUT', url })).statusCode).toBe(401)
    const wrong = await app.inject({ method: 'PUT', url, headers: { authorization } })
    expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, 'POST'])
    const bad = await app.inject({ method: 'POST', url, headers: { authorization }, payload: { name: 5 } })
    expect(bad.json()).toMatchObject({ error: { details: [{ path: 'body.name', message: 'must be a string' }] } })
    const empty = await app.inject({ method: 'POST', url, headers: { authorization } })
    expect(empty.json()).toMatchObject({ error: { details: [{ path: 'body.name', message: 'is required' }] } })
    const good = await app.inject({ method: 'POST', url, headers: { authorization }, payload: { name: 'a' } })
    expect(good.json()).toEqual({ name: 'a' })
    expect((await app.inject({ method: 'GET', url: '/nothing' })).statusCode).toBe(404)
  })
})
