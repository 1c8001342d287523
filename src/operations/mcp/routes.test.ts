import { expect, it, onTestFinished } from 'vitest'
import { testServer } from '../../../test/kit/http/server.ts'
import { silentLog } from '../../platform/log/index.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import { type McpRoutesDeps, mcpRoutes } from './routes.ts'

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} }

function server(deps: Partial<McpRoutesDeps> = {}) {
  const app = testServer({
    authenticator: {
      async authenticate({ headers: { authorization, cookie } }) {
        const isKnown = authorization === 'Bearer good' || cookie === 'session=operator'
        return isKnown ? { owner: 'good', scopes: ['read', 'write'] } : undefined
      },
    },
  })
  onTestFinished(() => app.close())
  const clock = fixedClock(0)
  mcpRoutes(app, { version: '1', clock, log: silentLog, isReadOnly: false, allowedOrigins: [], ...deps })
  const post = (payload: object, headers: Record<string, string> = { authorization: 'Bearer good' }) =>
    app.inject({
      method: 'POST',
      url: '/mcp',
      payload,
      headers: { accept: 'application/json, text/event-stream', ...headers },
    })
  return { app, post }
}

it('serves clients of older revisions without a session', async () => {
  const { post } = server()
  const opened = await post(INITIALIZE)
  expect([opened.statusCode, opened.headers['mcp-session-id']]).toEqual([200, undefined])
  expect(opened.body).toContain('"protocolVersion":"2025-11-25"')
  expect((await post(LIST)).body).toContain('"name":"send_message"')
})

it('offers only tools that read where the operator wants that, whatever the key', async () => {
  const { post } = server({ isReadOnly: true })
  expect((await post(INITIALIZE)).body).toContain('This server is read-only')
  const { body } = await post(LIST)
  expect(body).toContain('"name":"read_message"')
  expect(body).not.toContain('"readOnlyHint":false')
  const call = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'create_draft', arguments: {} } }
  expect((await post(call)).body).toMatch(/-32602.*read-only/)
})

it('does not accept the cookie of the portal', async () => {
  const { statusCode, headers } = await server().post(LIST, { cookie: 'session=operator' })
  expect([statusCode, headers['www-authenticate']]).toEqual([401, 'Bearer'])
})

it('answers no page of another origin, and no preflight, where no origin is allowed', async () => {
  const { app, post } = server()
  const headers = { authorization: 'Bearer good' }
  expect((await post(LIST, { ...headers, origin: 'https://evil.test' })).statusCode).toBe(403)
  expect((await post(LIST, { ...headers, origin: 'http://localhost:8080' })).statusCode).toBe(200)
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/mcp',
    headers: { ...headers, origin: 'https://evil.test' },
  })
  expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([405, undefined])
})
