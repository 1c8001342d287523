import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import * as Type from 'typebox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../platform/time/clock.ts'
import { type MailAccess, ProviderError } from '../../contract/index.ts'
import { parser, type RestClient, type RestRequest, restClient, statusError } from './index.ts'

type Handler = (req: IncomingMessage, res: ServerResponse, body: string) => void

describe('the REST client', () => {
  let origin: string
  let client: RestClient
  let stop: () => Promise<void>
  let handlers: Handler[]
  let received: { path: string; token: string; body: string }[]
  const get: RestRequest = { method: 'GET', path: '/things', doing: 'reading things' }
  const named = parser(Type.Object({ name: Type.String() }))

  beforeEach(async () => {
    handlers = []
    received = []
    const server = createServer(async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      received.push({ path: req.url ?? '', token: req.headers.authorization ?? '', body })
      const handle = handlers.shift() ?? json({ name: 'default' })
      handle(req, res, body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    client = open()
    stop = async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
  afterEach(async () => {
    await client.close()
    await client.close()
    await stop()
  })

  function open(options: Partial<Parameters<typeof restClient>[0]> = {}) {
    return restClient({
      root: `${origin}/api/`,
      rateLimit: { concurrency: 2 },
      toError: statusError,
      clock: systemClock,
      ...options,
    })
  }

  const mailbox = (accessToken: MailAccess['accessToken'] = async () => 'good') =>
    client.mailbox({ accountId: 'acc_1', email: 'a@example.test', settings: {}, secrets: {}, accessToken })

  it('sends the token and the query below its root, and reads the JSON response', async () => {
    handlers.push(json({ name: 'one', more: true }))
    expect(await mailbox().json({ ...get, query: { q: 'a b', id: ['1', '2'], no: undefined } }, named)).toMatchObject({
      name: 'one',
    })
    expect(received).toEqual([{ path: '/api/things?q=a+b&id=1&id=2', token: 'Bearer good', body: '' }])
  })

  it('sends JSON, and reads compressed responses', async () => {
    handlers.push((_req, res) => {
      res.setHeader('content-encoding', 'gzip')
      res.end(gzipSync(JSON.stringify({ name: 'packed' })))
    })
    expect(await mailbox().json({ ...get, method: 'POST', body: { a: 1 } }, named)).toEqual({ name: 'packed' })
    expect(received[0]?.body).toBe('{"a":1}')
  })

  it('requests a new token once when one is refused, then throws auth_expired', async () => {
    const refusedTokens: (string | undefined)[] = []
    const tokens = async (refused?: string) => {
      refusedTokens.push(refused)
      return refused === undefined ? 'old' : 'new'
    }
    handlers.push(status(401), json({ name: 'one' }))
    expect(await mailbox(tokens).json(get, named)).toEqual({ name: 'one' })
    expect(received.map(({ token }) => token)).toEqual(['Bearer old', 'Bearer new'])
    expect(refusedTokens).toEqual([undefined, 'old'])
    handlers.push(status(401), status(401))
    await expect(mailbox(tokens).json(get, named)).rejects.toMatchObject({ kind: 'auth_expired' })
    expect(received).toHaveLength(4)
  })

  it('follows a link on its own origin, and refuses any other without a request', async () => {
    await mailbox().json({ ...get, path: `${origin}/elsewhere?page=2` }, named)
    expect(received[0]?.path).toBe('/elsewhere?page=2')
    for (const path of [
      'http://other.example/things',
      origin.replace('127.0.0.1', 'localhost'),
      origin.replace('http://', 'http://user@'),
      '@other.example/',
      'javascript:alert(1)',
      'things',
    ]) {
      await expect(mailbox().json({ ...get, path }, named)).rejects.toMatchObject({ kind: 'unavailable' })
    }
    await expect(mailbox().json({ ...get, path: 'http://other.example/' }, named)).rejects.toThrow('other.example')
    expect(received).toHaveLength(1)
  })

  it('follows no redirect', async () => {
    handlers.push(status(302, { location: 'http://other.example/' }))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(received).toHaveLength(1)
  })

  it.each([
    [404, 'not_found'],
    [410, 'cursor_expired'],
    [400, 'rejected'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('maps status %i to %s', async (code, kind) => {
    handlers.push(status(code))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ name: 'ProviderError', kind })
    expect(received).toHaveLength(1)
  })

  it('waits for a short Retry-After and throws a long one, in seconds or as a date', async () => {
    handlers.push(status(429, { 'retry-after': '0' }), json({ name: 'then' }))
    expect(await mailbox().json({ ...get, method: 'POST' }, named)).toEqual({ name: 'then' })
    handlers.push(status(429, { 'retry-after': '60' }))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: 60_000 })
    expect(received).toHaveLength(3)
    // Until then the client sends no request for this mailbox, not even an urgent one.
    await expect(client.mailbox(access(), { urgent: true }).json(get, named)).rejects.toMatchObject({
      kind: 'rate_limited',
    })
    expect(received).toHaveLength(3)
    handlers.push(status(429, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }))
    const other = client.mailbox({ ...access(), accountId: 'acc_2' }).json(get, named)
    await expect(other).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: expect.closeTo(3_600_000, -5) })
  })

  it('rests after a 503 with Retry-After as after a 429', async () => {
    handlers.push(status(503, { 'retry-after': '60' }))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'unavailable', retryAfterMs: 60_000 })
    await expect(client.mailbox(access(), { urgent: true }).json(get, named)).rejects.toMatchObject({
      kind: 'rate_limited',
    })
    expect(received).toHaveLength(1)
    handlers.push(status(503, { 'retry-after': '0' }), json({ name: 'then' }))
    expect(await client.mailbox({ ...access(), accountId: 'acc_2' }).json(get, named)).toEqual({ name: 'then' })
  })

  it('sends requests at once when the pause of their mailbox is ended', async () => {
    handlers.push(status(429, { 'retry-after': '60' }))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'rate_limited' })
    const waiting = mailbox().json(get, named)
    await new Promise(setImmediate)
    expect(received).toHaveLength(1)
    client.endPause('acc_1')
    expect(await waiting).toEqual({ name: 'default' })
    expect(await client.mailbox(access(), { urgent: true }).json(get, named)).toEqual({ name: 'default' })
  })

  it('gives up after a few short pauses', async () => {
    handlers.push(...Array.from({ length: 5 }, () => status(429, { 'retry-after': '0' })))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'rate_limited' })
    expect(received).toHaveLength(3)
  })

  it.each([
    ['is no JSON', (res: ServerResponse) => res.end('<html>secret words</html>')],
    ['has another form', (res: ServerResponse) => res.end('{"name":["secret words"]}')],
    ['is empty', (res: ServerResponse) => res.end()],
    ['is too long', (res: ServerResponse) => res.end(JSON.stringify({ name: 'secret words'.repeat(1000) }))],
    [
      'breaks off',
      (res: ServerResponse) => res.writeHead(200, { 'content-length': 50 }).write('{"na', () => res.destroy()),
    ],
    [
      'is badly compressed',
      (res: ServerResponse) => res.writeHead(200, { 'content-encoding': 'gzip' }).end('secret words'),
    ],
  ])('throws unavailable for a response that %s, without quoting it', async (_name, write) => {
    handlers.push((_req, res) => void write(res))
    const error = await mailbox()
      .json({ ...get, maxBytes: 2000 }, named)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'ProviderError', kind: 'unavailable' })
    expect(String(error)).not.toContain('secret')
  })

  it('repeats a read when a reused connection ends, and no other request', async () => {
    handlers.push((_req, res) => void res.destroy(), json({ name: 'again' }))
    expect(await mailbox().json(get, named)).toEqual({ name: 'again' })
    handlers.push((_req, res) => void res.destroy())
    await expect(mailbox().json({ ...get, method: 'POST' }, named)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(received).toHaveLength(3)
    handlers.push((_req, res) => void res.destroy(), json({ name: 'batch' }))
    expect(await mailbox().json({ ...get, method: 'POST', isRepeatable: true }, named)).toEqual({ name: 'batch' })
  })

  it('throws unavailable with timedOut when no response comes', async () => {
    await client.close()
    client = open({ limits: { timeoutMs: 50 } })
    handlers.push(() => {})
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'unavailable', timedOut: true })
    handlers.push((_req, res) => void res.writeHead(200).write('{'))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'unavailable', timedOut: true })
  })

  it('limits the requests of a mailbox in flight, and sends urgent ones first', async () => {
    const held: ServerResponse[] = []
    const hold: Handler = (_req, res) => void held.push(res)
    handlers.push(hold, hold)
    const first = [mailbox().json({ ...get, path: '/1' }, named), mailbox().json({ ...get, path: '/2' }, named)]
    const third = mailbox().json({ ...get, path: '/3' }, named)
    const urgent = client.mailbox(access(), { urgent: true }).json({ ...get, path: '/4' }, named)
    // Another mailbox does not wait for this one.
    await client.mailbox({ ...access(), accountId: 'acc_2' }).json({ ...get, path: '/other' }, named)
    while (held.length < 2) await new Promise(setImmediate)
    expect(received.map(({ path }) => path).sort()).toEqual(['/api/1', '/api/2', '/api/other'])
    for (const res of held) res.end('{"name":"held"}')
    await Promise.all([...first, third, urgent])
    expect(received.map(({ path }) => path).slice(3)).toEqual(['/api/4', '/api/3'])
  })

  it('aborts a running or waiting request with its signal', async () => {
    const giveUp = new AbortController()
    const reason = new Error('stopped')
    const reached = new Promise<void>((resolve) => {
      handlers.push(...Array.from({ length: 2 }, () => () => resolve()))
    })
    const all = Array.from({ length: 3 }, () => mailbox().json({ ...get, signal: giveUp.signal }, named))
    await reached
    giveUp.abort(reason)
    for (const promise of all) await expect(promise).rejects.toBe(reason)
    expect(await mailbox().json(get, named)).toEqual({ name: 'default' })
  })

  it('aborts only the requests of the closed account', async () => {
    const held: ServerResponse[] = []
    handlers.push((_req, res) => void held.push(res))
    const mine = mailbox().json(get, named)
    while (held.length < 1) await new Promise(setImmediate)
    handlers.push((_req, res) => void held.push(res))
    const other = client.mailbox({ ...access(), accountId: 'acc_2' }).json(get, named)
    while (held.length < 2) await new Promise(setImmediate)
    const refused = expect(mine).rejects.toBeInstanceOf(ProviderError)
    await client.close('acc_1')
    await refused
    held[1]?.end('{"name":"whole"}')
    expect(await other).toEqual({ name: 'whole' })
  })

  const drip = (_req: IncomingMessage, res: ServerResponse) => {
    res.writeHead(200)
    const timer = setInterval(() => res.write(' '), 10)
    res.once('close', () => clearInterval(timer))
  }

  it('ends a response that drips: JSON after the timeout, a stream after its deadline', async () => {
    await client.close()
    client = open({ rateLimit: { concurrency: 1 }, limits: { timeoutMs: 150, streamMs: 300 } })
    const timedOut = { kind: 'unavailable', timedOut: true }
    handlers.push(drip)
    await expect(mailbox().json(get, named)).rejects.toMatchObject(timedOut)
    for (const deadline of [{}, { deadlineMs: 100 }]) {
      handlers.push(drip)
      const { body } = await mailbox().open({ ...get, ...deadline })
      await expect(body.forEach(() => {})).rejects.toMatchObject(timedOut)
    }
    expect(await mailbox().json(get, named)).toEqual({ name: 'default' })
  })

  it.each([
    ['100,000 levels', `{"name":"a","more":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['400,000 values', `{"name":"a","more":[${'{},'.repeat(400_000)}0]}`],
  ])('throws unavailable for JSON of %s instead of parsing it', async (_name, text) => {
    handlers.push((_req, res) => void res.end(text))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'unavailable' })
    // The body of an error response counts as absent.
    handlers.push((_req, res) => void res.writeHead(404).end(text.slice(0, 60_000)))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('throws unavailable for a bomb of compressed zeros without holding it in memory', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    handlers.push((_req, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    await expect(mailbox().json(get, named)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('streams a response of any length', async () => {
    const content = Buffer.alloc(3_000_000, 'x')
    handlers.push((_req, res) => void res.end(content))
    const { body } = await mailbox().open(get)
    const chunks: Buffer[] = []
    for await (const chunk of body) chunks.push(chunk)
    expect(Buffer.concat(chunks).equals(content)).toBe(true)
    handlers.push((_req, res) => void res.end(content))
    const unread = await mailbox().open(get)
    unread.body.destroy()
    handlers.push(status(404))
    await expect(mailbox().open(get)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('ends a stream that is not read, and frees its slot', async () => {
    await client.close()
    client = open({ rateLimit: { concurrency: 1 }, limits: { timeoutMs: 1000 } })
    handlers.push((_req, res) => void res.end(Buffer.alloc(3_000_000, 'x')))
    const { body } = await mailbox().open(get)
    expect((await body.iterator({ destroyOnReturn: false }).next()).done).toBe(false)
    expect(await mailbox().json(get, named)).toEqual({ name: 'default' })
    expect(body.errored).toMatchObject({ kind: 'unavailable', timedOut: true })
    handlers.push((_req, res) => void res.end(Buffer.alloc(3_000_000, 'x')))
    const unread = await mailbox().open(get)
    expect(await mailbox().json(get, named)).toEqual({ name: 'default' })
    expect(unread.body.destroyed).toBe(true)
  })

  function access(): MailAccess {
    return { accountId: 'acc_1', email: 'a@example.test', settings: {}, secrets: {}, accessToken: async () => 'good' }
  }
})

function json(value: unknown): Handler {
  return (_req, res) => void res.end(JSON.stringify(value))
}

function status(code: number, headers: Record<string, string> = {}): Handler {
  return (_req, res) => void res.writeHead(code, headers).end('{"error":"no"}')
}
