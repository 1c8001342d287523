import { connect } from 'node:net'
import * as Type from 'typebox'
import { afterEach, describe, expect, it } from 'vitest'
import { type Api, api } from '../../../../../test/kit/http/http.ts'
import { testServer } from '../../../../../test/kit/http/server.ts'
import { type App, type ServerOptions, WEBHOOK_BODY_LIMIT } from '../../index.ts'

let app: App
afterEach(() => app.close())

const anything = { body: Type.Object({ data: Type.Optional(Type.Unknown()) }) }

/** One route of each group that accepts a body. Each returns what it parsed. */
async function listen(options: Partial<ServerOptions> = {}): Promise<Api> {
  app = testServer(options)
  const keyed = { access: 'key:write' } as const
  app.post('/keyed', { config: keyed, schema: anything }, async (request) => request.body)
  app.post('/public', { config: { access: 'public' }, schema: anything }, async (request) => request.body)
  app.post('/session', { config: { access: 'session' }, schema: anything }, async (request) => request.body)
  app.post('/form', { config: { access: 'public', form: true } }, async (request) => request.body)
  app.post('/hook', { config: { access: 'public' }, bodyLimit: WEBHOOK_BODY_LIMIT }, async () => ({}))
  return api(await app.listen({ port: 0, host: '127.0.0.1' }), 'good')
}

const KB = 1024
const buildJson = (bytes: number) => JSON.stringify({ data: 'x'.repeat(bytes - '{"data":""}'.length) })
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe('the size of a body', () => {
  it.each([
    ['/keyed', 1024 * KB],
    ['/public', 64 * KB],
    ['/session', 64 * KB],
    ['/hook', 256 * KB],
  ])('is limited on %s to %i bytes', async (path, limit) => {
    const client = await listen()
    expect((await client.post(path, buildJson(limit))).status).toBe(200)
    const refused = await client.post(path, buildJson(limit + 1))
    expect([refused.status, refused.json.error.code]).toEqual([413, 'payload_too_large'])
  })

  it('is checked while a body without a length arrives, not at its end', async () => {
    const { url } = await listen()
    const response = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
        const head = [
          'POST /public HTTP/1.1',
          'host: a',
          'content-type: application/json',
          'transfer-encoding: chunked',
        ]
        socket.write(`${head.join('\r\n')}\r\n\r\n`)
        // The body never ends.
        for (let sent = 0; sent < 5; sent += 1) socket.write(`4000\r\n${' '.repeat(16 * KB)}\r\n`)
      })
      socket.setTimeout(300_000, () => socket.destroy(new Error('no response')))
      socket.once('data', (data) => {
        socket.destroy()
        resolve(data.toString('latin1'))
      })
      socket.on('error', reject)
    })
    expect(response).toMatch(/^HTTP\/1\.1 413 /)
  })
})

describe('a form', () => {
  it('has at most 100 fields', async () => {
    const client = await listen()
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, '']))
    expect(Object.keys((await client.form('/form', fields(100))).json)).toHaveLength(100)
    const refused = await client.form('/form', fields(101))
    expect([refused.status, refused.json.error]).toEqual([
      400,
      expect.objectContaining({ code: 'validation_failed', message: 'The form has more than 100 fields.' }),
    ])
  })
})

describe('a JSON body', () => {
  it('has at most 100 levels, and is refused by name above that', async () => {
    const client = await listen()
    expect((await client.post('/keyed', `{"data":${deep(99)}}`)).status).toBe(200)
    for (const body of [`{"data":${deep(100)}}`, deep(100_000), `{"data":${deep(100_000)}}`, '['.repeat(100_000)]) {
      const refused = await client.post('/keyed', body)
      expect([refused.status, refused.json.error.code, refused.json.error.message]).toEqual([
        400,
        'malformed_json',
        'The body is nested more than 100 levels deep.',
      ])
    }
  })

  it.each([
    ['/keyed', 50_000],
    ['/public', 10_000],
  ])('has on %s at most %i values, because parsing more would delay other requests', async (path, limit) => {
    const client = await listen()
    expect((await client.post(path, `{"data":[${'0,'.repeat(limit - 3)}0]}`)).status).toBe(200)
    const refused = await client.post(path, `{"data":[${'[],'.repeat(limit - 2)}0]}`)
    expect([refused.status, refused.json.error.message]).toEqual([400, `The body has more than ${limit} values.`])
  })

  it('may contain brackets, commas and escaped quotes in its texts', async () => {
    const client = await listen()
    const data = [`${'[{'.repeat(200)}\\"\\\\`, '"', '\\', ',,'.repeat(30_000)]
    expect((await client.post('/keyed', { data })).json).toEqual({ data })
  })

  it('cannot give an object another prototype', async () => {
    const client = await listen()
    const response = await client.post(
      '/keyed',
      '{"data":{"a":1,"__proto__":{"admin":true},"\\u005f_proto__":{"admin":true},"constructor":{"prototype":{"b":1}}}}',
    )
    expect(response.json).toEqual({ data: { a: 1 } })
  })
})
