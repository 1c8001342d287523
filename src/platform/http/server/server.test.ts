import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import * as Type from 'typebox'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { type Api, api } from '../../../../test/kit/http/http.ts'
import { testServer } from '../../../../test/kit/http/server.ts'
import { AppError, ERROR_CATALOGUE } from '../../errors/app-error.ts'
import { type Log, type LogFields, silentLog } from '../../log/index.ts'
import {
  type App,
  ATTACHMENT_BODY_LIMIT,
  type Authenticator,
  closeServer,
  openApiRoutes,
  type ServerOptions,
} from '../index.ts'

let app: App
afterEach(() => app.close())

const thingRoutes = (server: App) => {
  server.get('/things/:id', { config: { access: 'key:read' } }, async (request) => ({ id: request.params }))
  server.post(
    '/things/:id',
    {
      config: { access: 'key:write' },
      schema: {
        params: Type.Object({ id: Type.String() }),
        body: Type.Object({ name: Type.String({ minLength: 1 }), size: Type.Optional(Type.Integer()) }),
      },
    },
    async (request) => ({ ...request.body, id: request.params.id }),
  )
  server.post(
    '/optional',
    { config: { access: 'key:write' }, schema: { body: Type.Object({ size: Type.Optional(Type.Integer()) }) } },
    async (request) => request.body,
  )
  server.get(
    '/query',
    {
      config: { access: 'public' },
      schema: { querystring: Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1 })) }) },
    },
    async (request) => ({ page: request.query.page ?? null }),
  )
}

async function listen(add: (server: App) => void = thingRoutes, options: Partial<ServerOptions> = {}): Promise<Api> {
  app = testServer(options)
  add(app)
  return api(await app.listen({ port: 0, host: '127.0.0.1' }), 'good')
}

const serverUrl = () => `http://127.0.0.1:${(app.server.address() as { port: number }).port}`

describe('the key', () => {
  it('is checked before the rest of the request is read', async () => {
    await listen()
    const stranger = api(serverUrl())
    const malformed = await stranger.post('/things/1', '{')
    expect(malformed.status).toBe(401)
    expect(malformed.headers.get('www-authenticate')).toBe('Bearer')
    expect(malformed.json.error).toMatchObject({ code: 'unauthorized', type: 'api', details: [] })
    expect(malformed.json.error.message).toBe('The API key is missing. Send it as "Authorization: Bearer <key>".')
    expect((await stranger.put('/things/1')).status).toBe(401)
    expect((await stranger.get('/nothing')).status).toBe(404)
  })

  it('is accepted as a bearer token and as x-api-key', async () => {
    const bearerOnly = await listen(thingRoutes, {
      authenticator: {
        authenticate: async (request) =>
          request.headers['x-api-key'] === 'k' ? { owner: 'k', scopes: ['read'] } : undefined,
      },
    })
    expect((await bearerOnly.get('/things/1')).status).toBe(401)
    expect((await bearerOnly.get('/things/1', { 'x-api-key': 'k' })).status).toBe(200)
  })

  it('is reported as not valid when one was sent, and as missing when none was', async () => {
    await listen()
    const wrong = await api(serverUrl(), 'other').get('/things/1')
    expect([wrong.status, wrong.json.error.code]).toEqual([401, 'unauthorized'])
    expect(wrong.json.error.message).toContain('This API key is not valid')
    expect(wrong.text).not.toContain('other')
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  })

  it('must have the scope of the route', async () => {
    await listen()
    const reader = api(serverUrl(), 'reader')
    expect((await reader.get('/things/1')).status).toBe(200)
    const refused = await reader.post('/things/1', { name: 'a' })
    expect(refused.status).toBe(403)
    expect(refused.json.error.message).toContain('"write"')
    expect(refused.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="write"')
  })

  it('is declared by every route: a route without access, or a keyed POST outside writing, stops the start', async () => {
    app = testServer({ idempotency: { isWriting: () => false } })
    expect(() => app.get('/open', async () => '')).toThrow('GET /open declares no access')
    expect(() => app.post('/free', { config: { access: 'key:write' } }, async () => '')).toThrow(
      'POST /free requires a key, but idempotency.writing did not make its handler',
    )
  })
})

describe('paths and methods', () => {
  it('responds 405 to a wrong method and names the supported ones', async () => {
    const client = await listen()
    const wrong = await client.delete('/things/1?page=2')
    expect(wrong.status).toBe(405)
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST')
    expect(wrong.json.error).toMatchObject({
      code: 'method_not_allowed',
      message: 'This path does not support DELETE. It supports: GET, HEAD, POST.',
    })
    expect((await api(serverUrl()).post('/query')).status).toBe(405)
  })

  it('responds 404 to any request for an unknown path', async () => {
    const client = await listen()
    const unknown = await client.request('POST', '/nothing', { body: 'x', headers: { 'content-type': 'text/plain' } })
    expect(unknown.status).toBe(404)
    expect(unknown.json).toMatchObject({ success: false, error: { code: 'route_not_found' } })
  })

  it('responds to HEAD as to GET, without a body', async () => {
    const client = await listen()
    const head = await client.request('HEAD', '/things/1')
    expect([head.status, head.text]).toEqual([200, ''])
  })

  it('accepts path parameters of 2048 characters and responds 404 to longer ones', async () => {
    const client = await listen()
    expect((await client.get(`/things/${'x'.repeat(2048)}`)).status).toBe(200)
    expect((await client.get(`/things/${'x'.repeat(2049)}`)).status).toBe(404)
    const broken = await client.get('/things/%zz')
    expect([broken.status, broken.json.requestId]).toEqual([400, broken.headers.get('x-request-id')])
  })
})

describe('bodies', () => {
  it('lists every validation error with its path', async () => {
    const client = await listen()
    const bad = await client.post('/things/1', { name: '', size: '5' })
    expect(bad.status).toBe(400)
    expect(bad.json.error).toEqual({
      code: 'validation_failed',
      type: 'api',
      message: 'body.name must not be empty (and 1 more).',
      docUrl: 'http://localhost:8080/docs/errors#validation_failed',
      details: [
        { path: 'body.name', message: 'must not be empty' },
        { path: 'body.size', message: 'must be a whole number' },
      ],
    })
    expect(bad.json.requestId).toBe(bad.headers.get('x-request-id'))
  })

  it('keeps the types of JSON and ignores unknown members', async () => {
    const client = await listen()
    expect((await client.post('/things/1', { name: 'a', size: 5, other: 1 })).json).toMatchObject({ id: '1', size: 5 })
    expect((await client.post('/things/1', { name: 5 })).json.error.details).toEqual([
      { path: 'body.name', message: 'must be a string' },
    ])
  })

  it('treats an empty body as a missing one', async () => {
    const client = await listen()
    const json = { 'content-type': 'application/json' }
    expect((await client.request('POST', '/optional', { headers: json })).json).toEqual({})
    expect((await client.request('POST', '/optional')).json).toEqual({})
    expect((await client.request('DELETE', '/things/1', { headers: json })).status).toBe(405)
    expect((await client.request('POST', '/things/1', { headers: json })).json.error.details).toEqual([
      { path: 'body.name', message: 'is required' },
    ])
  })

  it('rejects invalid JSON, reporting the position but not the text', async () => {
    const client = await listen()
    const malformed = await client.post('/things/1', '{"password":"hunter2",}')
    expect([malformed.status, malformed.json.error.code]).toEqual([400, 'malformed_json'])
    expect(malformed.text).not.toContain('hunter2')
    const text = await client.post('/things/1', 'name=a', { 'content-type': 'text/plain' })
    expect([text.status, text.json.error.code]).toEqual([415, 'unsupported_media_type'])
    expect((await client.form('/things/1', { name: 'a' })).status).toBe(415)
  })

  it('accepts a form on routes that declare it; the first of repeated fields wins', async () => {
    await listen((server) => {
      const body = Type.Object({ name: Type.String() })
      server.post(
        '/form',
        { config: { access: 'public', form: true }, schema: { body } },
        async (request) => request.body,
      )
    })
    expect((await api(serverUrl()).form('/form', { name: 'ä b' })).json).toEqual({ name: 'ä b' })
    const twice = await fetch(`${serverUrl()}/form`, {
      method: 'POST',
      body: new URLSearchParams('name=1&name=2&__proto__=x'),
    })
    expect(await twice.json()).toEqual({ name: '1' })
  })

  it('are limited to 1 MB, or 35 MB on routes with attachments', async () => {
    const client = await listen((server) => {
      const schema = { body: Type.Object({ text: Type.String() }) }
      const config = { access: 'key:write' } as const
      server.post('/small', { config, schema }, async (request) => ({ length: request.body.text.length }))
      server.post('/large', { config, schema, bodyLimit: ATTACHMENT_BODY_LIMIT }, async (request) => ({
        length: request.body.text.length,
      }))
    })
    const text = 'x'.repeat(2 * 1024 * 1024)
    expect((await client.post('/small', { text })).status).toBe(413)
    expect((await client.post('/large', { text })).json).toEqual({ length: text.length })
  })

  it('cannot give an object another prototype', async () => {
    const client = await listen()
    const response = await client.post(
      '/things/1',
      '{"name":"a","__proto__":{"admin":true},"\\u005f_proto__":{"admin":true},"__pro\\u0074o__":{"admin":true}}',
    )
    expect(response.json).toEqual({ name: 'a', id: '1' })
  })
})

describe('queries', () => {
  it('are coerced to numbers, and rejected if that fails', async () => {
    const client = await listen()
    expect((await client.get('/query?page=3')).json).toEqual({ page: 3 })
    expect((await client.get('/query?page=0')).json.error.details).toEqual([
      { path: 'query.page', message: 'must be at least 1' },
    ])
    for (const page of ['x', '1.5', '', '1&page=2']) {
      const refused = await client.get(`/query?page=${page}`)
      expect(refused.json.error.details).toEqual([{ path: 'query.page', message: 'must be a whole number' }])
    }
  })
})

describe('errors', () => {
  it('link to a section of the error page that exists for every code', async () => {
    const client = await listen((server) => {
      openApiRoutes(server)
      failing(server)
    })
    const page = await client.get('/docs/errors')
    expect(page.headers.get('content-type')).toContain('text/html')
    const sections = [...page.text.matchAll(/<section class="error" id="(\w+)"/g)].map((match) => match[1])
    expect(sections.sort()).toEqual(Object.keys(ERROR_CATALOGUE).sort())
    for (const path of ['/bug', '/known', '/nothing']) {
      const { code, docUrl } = (await client.get(path)).json.error
      expect(docUrl).toBe(`http://localhost:8080/docs/errors#${code}`)
    }
    expect((await client.get('/things/%zz')).json.error.docUrl).toMatch(/^http:\/\/localhost:8080\/docs\/errors#\w+$/)
  })

  const failing = (server: App) => {
    server.get('/bug', { config: { access: 'public' } }, async () => {
      throw new Error('secret detail')
    })
    server.get('/known', { config: { access: 'public' } }, async () => {
      throw new AppError('not_ready', { headers: { 'retry-after': '5' } })
    })
  }

  it('hide internal failures from the caller and log them', async () => {
    const lines: { message: string; fields: LogFields }[] = []
    const client = await listen(failing, { log: listeningLog(lines) })
    const bug = await client.get('/bug')
    expect(bug.status).toBe(500)
    expect(bug.text).not.toContain('secret detail')
    await eventually(() => lines.length > 0)
    expect(lines[0]).toMatchObject({ message: 'GET /bug 500', fields: { requestId: bug.json.requestId } })
    expect(String(lines[0]?.fields.error)).toContain('secret detail')
  })

  it('include their headers, and are problem details when the client accepts them', async () => {
    const client = await listen(failing)
    expect((await client.get('/known')).headers.get('retry-after')).toBe('5')
    const problem = await client.get('/known', { accept: 'application/problem+json' })
    expect(problem.headers.get('content-type')).toContain('application/problem+json')
    expect(problem.json).toMatchObject({
      title: 'Service Unavailable',
      status: 503,
      code: 'not_ready',
      docUrl: 'http://localhost:8080/docs/errors#not_ready',
    })
  })

  it('are not logged as ours when the client disconnects while sending', async () => {
    const lines: { message: string; fields: LogFields }[] = []
    let arrived = false
    await listen(
      (server) => {
        thingRoutes(server)
        server.addHook('preParsing', async () => {
          arrived = true
        })
      },
      { log: listeningLog(lines) },
    )
    const head = 'POST /optional HTTP/1.1\r\nhost: a\r\nauthorization: Bearer good\r\ncontent-type: application/json'
    const socket = connect(Number(new URL(serverUrl()).port), '127.0.0.1', () => {
      socket.write(`${head}\r\ncontent-length: 100\r\n\r\n{`)
    })
    await eventually(() => arrived)
    socket.destroy()
    await eventually(() => lines.length > 0)
    expect(lines.map((line) => line.message)).toEqual(['POST /optional: the client disconnected before the response.'])
  })

  it('have the same body when the bytes are not HTTP', async () => {
    await listen()
    const port = Number(new URL(serverUrl()).port)
    const response = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(port, '127.0.0.1', () => socket.write('this is not http\r\n\r\n'))
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('close', () => resolve(text))
    })
    expect(response).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(response.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      success: false,
      error: { docUrl: 'http://localhost:8080/docs/errors#validation_failed' },
    })
  })
})

describe('request ids', () => {
  it('come from the caller when they are safe in a log, else are new', async () => {
    const client = await listen()
    const own = await client.get('/nothing', { 'x-request-id': 'my-id.1' })
    expect([own.headers.get('x-request-id'), own.json.requestId]).toEqual(['my-id.1', 'my-id.1'])
    for (const bad of ['has space', 'x'.repeat(129), 'ä']) {
      const made = await client.get('/nothing', { 'x-request-id': encodeURI(bad).replaceAll('%20', ' ') })
      expect(made.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
    }
  })

  it('are logged in one line per request, with the route pattern and without the query', async () => {
    const lines: { message: string; fields: LogFields }[] = []
    const client = await listen(thingRoutes, { log: listeningLog(lines) })
    const response = await client.get('/things/secret-code?state=secret-state')
    await eventually(() => lines.length > 0)
    expect(JSON.stringify(lines)).not.toContain('secret')
    expect(lines[0]).toMatchObject({
      message: 'GET /things/:id 200',
      fields: {
        requestId: response.headers.get('x-request-id'),
        metadata: { method: 'GET', route: '/things/:id', status: 200, caller: 'good' },
      },
    })
  })
})

describe('the log of requests', () => {
  it('has those of probes and of the portal at debug, unless they fail', async () => {
    const levels: string[] = []
    const record = (level: string) => (message: string) => void levels.push(`${level} ${message}`)
    const log = { ...silentLog, debug: record('debug'), info: record('info'), error: record('error') }
    const portal = { owner: 'admin:admin', scopes: ['read' as const], isPortal: true }
    const authenticator: Authenticator = {
      authenticate: async ({ headers }) =>
        headers.cookie === undefined ? { owner: 'service', scopes: ['read'] } : portal,
    }
    const routes = (server: App) => {
      for (const path of ['/accounts', '/admin', '/admin/overview', '/administration', '/health/live'])
        server.get(path, { config: { access: 'key:read' } }, async () => ({}))
      server.get('/bug', { config: { access: 'key:read' } }, async () => {
        throw new Error('a bug')
      })
    }
    const client = await listen(routes, { log, authenticator })
    for (const path of ['/accounts', '/admin', '/admin/overview', '/administration', '/health/live'])
      await client.get(path)
    await client.get('/accounts', { cookie: 'portal' })
    await client.get('/bug', { cookie: 'portal' })
    await eventually(() => levels.length === 7)
    expect(levels.sort()).toEqual([
      'debug GET /accounts 200',
      'debug GET /admin 200',
      'debug GET /admin/overview 200',
      'debug GET /health/live 200',
      'error GET /bug 500',
      'info GET /accounts 200',
      'info GET /administration 200',
    ])
  })
})

describe('proxies', () => {
  const showIp = (server: App) =>
    server.get('/ip', { config: { access: 'public' } }, async (request) => ({ ip: request.ip }))

  it('set the client address only when they are trusted', async () => {
    const forwarded = { 'x-forwarded-for': '203.0.113.9' }
    expect((await (await listen(showIp)).get('/ip', forwarded)).json).toEqual({ ip: '127.0.0.1' })
    await app.close()
    const trusting = await listen(showIp, { trustedProxies: ['127.0.0.0/8'] })
    expect((await trusting.get('/ip', forwarded)).json).toEqual({ ip: '203.0.113.9' })
  })
})

describe('closing', () => {
  it('finishes running requests, closes idle connections and accepts no new ones', async () => {
    let finish: () => void = () => {}
    let began: () => void = () => {}
    const running = new Promise<void>((resolve) => {
      began = resolve
    })
    await listen((server) => {
      server.get('/idle', { config: { access: 'public' } }, async () => ({}))
      server.get('/slow', { config: { access: 'public' } }, () => {
        began()
        return new Promise((resolve) => {
          finish = () => resolve({ done: true })
        })
      })
    })
    const url = serverUrl()
    const idle = await keepAlive(`${url}/idle`)
    const slow = api(url).get('/slow')
    await running
    const closing = app.close()
    await idle.closed
    await expect(api(url).get('/idle')).rejects.toThrow()
    finish()
    expect((await slow).json).toEqual({ done: true })
    expect((await slow).headers.get('connection')).toBe('close')
    await closing
  })
})

describe('closing with a limit', () => {
  it('cuts off requests that do not end', async () => {
    let arrived = false
    await listen((server) => {
      server.get('/endless', { config: { access: 'public' } }, () => {
        arrived = true
        return new Promise(() => {})
      })
    })
    const endless = api(serverUrl()).get('/endless')
    const cut = expect(endless).rejects.toThrow()
    await eventually(() => arrived)
    await closeServer(app, 50)
    await cut
  })
})

/** Opens a connection that stays open after its first response. `closed` resolves at its end. */
function keepAlive(url: string): Promise<{ closed: Promise<void> }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers: { connection: 'keep-alive' } }, (response) => {
      const closed = new Promise<void>((done) => void response.socket.on('close', () => done()))
      response.resume().on('end', () => resolve({ closed }))
    })
    request.on('error', reject).end()
  })
}

function listeningLog(lines: { message: string; fields: LogFields }[]): Log {
  const write = (message: string, fields: LogFields = {}) => void lines.push({ message, fields })
  const log: Log = {
    trace: write,
    debug: write,
    info: write,
    warn: write,
    error: write,
    fatal: write,
    with: () => log,
  }
  return log
}
