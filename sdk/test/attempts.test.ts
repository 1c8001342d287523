import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ConnectionError,
  InvalidResponseError,
  Posthorn,
  RateLimitError,
  ServerError,
  TimeoutError,
} from '@posthorn/sdk'
import { expect, it } from 'vitest'
import { closing } from '../../test/kit/closing.ts'
import { startServiceProcess } from '../../test/kit/service/process.ts'
import { freePort } from '../../test/servers/free-port.ts'
import { type Receiver, type ReceiverResponse, startReceiver } from '../../test/servers/receiver.ts'

/** A server that responds as scripted, first once each, then always with an account. */
async function scripted(...responses: ReceiverResponse[]): Promise<{ server: Receiver; posthorn: Posthorn }> {
  const server = closing(await startReceiver())
  server.script(...responses)
  server.always(json({ id: 'acc_1', accounts: [], pagination: {} }))
  return { server, posthorn: new Posthorn({ baseUrl: server.url, apiKey: 'key', timeoutMs: 20_000 }) }
}

function json(body: unknown, status = 200, headers = {}): ReceiverResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

function refusal(status: number, code: string, headers = {}): ReceiverResponse {
  const error = { code, type: 'api', message: `It is ${code}.`, docUrl: 'http://docs', details: [] }
  return json({ success: false, error, requestId: 'req_1' }, status, headers)
}

const keysOf = ({ requests }: Receiver) => requests.map(({ headers }) => headers['idempotency-key'])

it.each([429, 503])('retries a %d after the time in Retry-After, also without an idempotency key', async (status) => {
  const { server, posthorn } = await scripted(refusal(status, 'busy', { 'retry-after': '1' }))
  await posthorn.holds.create('intro', {
    slot: { start: '2026-11-23T09:00:00Z', end: '2026-11-23T09:30:00Z' },
  } as never)
  const [first, second] = server.requests.map(({ atMs }) => atMs)
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990)
  expect(keysOf(server)).toEqual([undefined, undefined])
})

it('sends one idempotency key with all attempts of a call, another one with the next call, and that of the caller', async () => {
  const { server, posthorn } = await scripted('reset', refusal(502, 'provider_unavailable'))
  await posthorn.accounts.pause('acc_1')
  await posthorn.accounts.pause('acc_1')
  await posthorn.accounts.pause('acc_1', { idempotencyKey: 'mine' })
  const keys = keysOf(server)
  expect(keys).toHaveLength(5)
  expect(keys[0]).toMatch(/^sdk-[0-9a-f]{32}$/)
  expect([keys[1], keys[2]]).toEqual([keys[0], keys[0]])
  expect(keys[3]).not.toBe(keys[0])
  expect(keys[4]).toBe('mine')
  // A call that is not repeated needs no key, which the service would store.
  await posthorn.accounts.pause('acc_1', { maxRetries: 0 })
  await posthorn.accounts.pause('acc_1', { maxRetries: 0, idempotencyKey: 'mine' })
  expect(keysOf(server).slice(5)).toEqual([undefined, 'mine'])
})

it.each<[string, ReceiverResponse]>([
  ['a broken connection', 'reset'],
  ['a 502', refusal(502, 'provider_unavailable')],
])('does not repeat a POST without a key after %s, whose effect is unknown', async (_name, response) => {
  const { server, posthorn } = await scripted(response)
  await expect(posthorn.bookings.cancel('bkg_1')).rejects.toThrow()
  expect(server.requests).toHaveLength(1)
})

it.each([400, 401, 403, 404, 409, 410, 422])('does not retry a %d', async (status) => {
  const { server, posthorn } = await scripted(refusal(status, 'refused'))
  await expect(posthorn.accounts.get('acc_1')).rejects.toMatchObject({ status, code: 'refused', requestId: 'req_1' })
  expect(server.requests).toHaveLength(1)
})

it('waits for the first request with the same idempotency key', async () => {
  const { server, posthorn } = await scripted(refusal(409, 'idempotency_running'))
  await posthorn.accounts.sync('acc_1')
  expect(server.requests).toHaveLength(2)
})

it('gives up after maxRetries, and at once when it would wait longer than maxRetryDelayMs', async () => {
  const busy = refusal(503, 'unavailable', { 'retry-after': '0' })
  const { server, posthorn } = await scripted(busy, busy, refusal(429, 'rate_limited', { 'retry-after': '61' }))
  await expect(posthorn.accounts.get('acc_1', { maxRetries: 1 })).rejects.toThrow(ServerError)
  expect(server.requests).toHaveLength(2)
  const error = await posthorn.accounts.get('acc_1').catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(RateLimitError)
  expect(error).toMatchObject({ retryAfterMs: 61_000 })
  expect(server.requests).toHaveLength(3)
})

it('understands a Retry-After that is a date, and an error that does not come from the service', async () => {
  const at = new Date(Date.now() + 3_600_000).toUTCString()
  const { posthorn } = await scripted({ status: 503, headers: { 'retry-after': at }, body: '<h1>Bad gateway</h1>' })
  const error = await posthorn.accounts.get('acc_1').catch((caught: unknown) => caught)
  expect(error).toMatchObject({ status: 503, code: 'http_503', requestId: undefined, field: undefined })
  expect(Math.abs((error as ServerError).retryAfterMs ?? 0) - 3_600_000).toBeLessThan(60_000)
})

it('sends a stream once, because it cannot be read again', async () => {
  const { server, posthorn } = await scripted(refusal(503, 'unavailable', { 'retry-after': '0' }))
  const message = { to: ['ada@acme.example'], subject: 'Scan', body: '' }
  const files = { scan: { content: new Blob(['scan']).stream() } }
  await expect(posthorn.messages.send('acc_1', message, { files })).rejects.toThrow(ServerError)
  expect(server.requests).toHaveLength(1)
  expect(server.requests[0]?.body).toContain('scan')
})

it('continues a stream of events after the last one that the caller has taken', async () => {
  const stream = (body: string) => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body })
  const { server, posthorn } = await scripted(
    stream('id: 6\n\nid: 7\ndata: {"position":7}\n\nid: 8\ndata: {"position":8}\n\n'),
    refusal(503, 'unavailable'),
    stream('id: 9\ndata: {"position":9}\n\n'),
  )
  const positions: number[] = []
  for await (const { position } of posthorn.events.stream({}, { lastEventId: '5' })) {
    if (positions.push(position) === 3) break
  }
  expect(positions).toEqual([7, 8, 9])
  expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual(['5', '8', '8'])
})

it('ends an attempt that takes longer than timeoutMs, and makes another one', async () => {
  const { server, posthorn } = await scripted('hang', 'stall')
  await expect(posthorn.accounts.get('acc_1', { timeoutMs: 50, maxRetries: 1 })).rejects.toThrow(TimeoutError)
  expect(server.requests).toHaveLength(2)
})

it('ends a download whose body pauses for longer than timeoutMs', async () => {
  const { posthorn } = await scripted('stall')
  const response = await posthorn.messages.download('acc_1', 'msg_1', { timeoutMs: 100 })
  await expect(response.text()).rejects.toThrow(TimeoutError)
})

it('throws the reason of the signal: before, during and between attempts, and while a body is read', async () => {
  const { server, posthorn } = await scripted('hang', refusal(503, 'unavailable', { 'retry-after': '30' }), 'stall')
  const reason = new Error('the user has left')
  const gone = AbortSignal.abort(reason)
  await expect(posthorn.accounts.get('acc_1', { signal: gone })).rejects.toBe(reason)
  expect(server.requests).toHaveLength(0)
  for (const _attempt of ['hang', '503']) {
    const controller = new AbortController()
    const call = posthorn.accounts.get('acc_1', { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 50)
    await expect(call).rejects.toBe(reason)
  }
  const controller = new AbortController()
  const { body } = await posthorn.messages.download('acc_1', 'msg_1', { signal: controller.signal })
  controller.abort(reason)
  await expect(new Response(body).text()).rejects.toBe(reason)
})

it('says which address it cannot reach, and when something else responds there', async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  const unreachable = new Posthorn({ baseUrl, maxRetries: 0 }).accounts.list()
  await expect(unreachable).rejects.toThrow(ConnectionError)
  await expect(unreachable).rejects.toThrow(`Cannot reach ${baseUrl} (connect ECONNREFUSED`)
  const { posthorn } = await scripted({ status: 200, body: '<h1>It works!</h1>' })
  await expect(posthorn.accounts.list()).rejects.toThrow(
    expect.objectContaining({
      name: 'InvalidResponseError',
      status: 200,
      message: expect.stringContaining('but not with JSON. Check baseUrl.'),
    }),
  )
  const other = await scripted(json('It works!'))
  await expect(other.posthorn.accounts.list()).rejects.toThrow(InvalidResponseError)
  expect(() => new Posthorn({ baseUrl: 'mail.example.com' })).toThrow('baseUrl must be an address')
})

it('does not follow a redirect with the key', async () => {
  const { server, posthorn } = await scripted(
    { status: 307, headers: { location: '/elsewhere' } },
    json({ id: 'acc_2' }, 302, { location: '/elsewhere' }),
  )
  await expect(posthorn.accounts.get('acc_1')).rejects.toMatchObject({ status: 307 })
  await expect(posthorn.accounts.get('acc_1')).rejects.toMatchObject({ status: 302, code: 'http_302' })
  expect(server.requests).toHaveLength(2)
})

it('says how long a service with a rate limit asks to wait, and does not wait longer than it may', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-sdk-'))
  closing({ close: () => rm(dataDir, { recursive: true, force: true }) })
  const service = await startServiceProcess({ dataDir, env: { API_REQUESTS_PER_MINUTE: '5' } })
  closing({ close: () => service.kill() })
  const posthorn = new Posthorn({ baseUrl: service.url, apiKey: service.key, maxRetryDelayMs: 0 })
  const calls = Array.from({ length: 20 }, async () => (await posthorn.accounts.list()).items)
  const failures = (await Promise.allSettled(calls)).filter((result) => result.status === 'rejected')
  expect(failures.length).toBeGreaterThanOrEqual(10)
  for (const { reason } of failures) {
    expect(reason).toBeInstanceOf(RateLimitError)
    expect(reason).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(reason.retryAfterMs).toBeGreaterThan(0)
    expect(reason.retryAfterMs).toBeLessThanOrEqual(60_000)
  }
})
