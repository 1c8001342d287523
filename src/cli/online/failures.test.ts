import { Posthorn } from '@posthorn/sdk'
import { describe, expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { type ReceiverResponse, startReceiver } from '../../../test/servers/receiver.ts'
import { cli } from '../cli.ts'
import { linkAccount } from './import/link-account.ts'

const json = (body: unknown, status = 200, headers = {}): ReceiverResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

const refusal = (status: number, code: string, headers = {}) =>
  json({ success: false, error: { code, type: 'api', message: `It is ${code}.`, details: [] } }, status, headers)

describe('a command', () => {
  /** Runs it with a service that always responds in this way. */
  async function posthorn(line: string[], response: ReceiverResponse) {
    const server = closing(await startReceiver())
    server.always(response)
    const error: string[] = []
    const terminal = { out: () => {}, error: (text: string) => error.push(text) }
    const code = await cli([...line, '--url', server.url, '--key', 'secret-key'], terminal)
    return { code, error: error.join('\n').replaceAll(server.url, 'URL'), requests: server.requests }
  }
  const foreign = (status: number) =>
    `posthorn: URL responded ${status}, but not as Posthorn does.\nCheck --url or PUBLIC_URL.`

  it.each<[string, ReceiverResponse, number, string]>([
    ['a page', { status: 200, body: '<h1>It works!</h1>' }, 1, foreign(200)],
    ['another service', json({ message: 'Not found' }, 404), 1, foreign(404)],
    ['a proxy', { status: 502, body: '<h1>Bad gateway</h1>' }, 1, foreign(502)],
    ['a redirect', json({ id: 'acc_1' }, 302, { location: '/elsewhere' }), 1, foreign(302)],
    ['a service that is busy', refusal(503, 'unavailable', { 'retry-after': '0' }), 1, 'posthorn: It is unavailable.'],
    ['a refusal of the input', refusal(400, 'validation_failed'), 2, 'posthorn: It is validation_failed.\nTry: '],
    ['a refusal of the key', refusal(401, 'unauthorized'), 1, 'posthorn: It is unauthorized.\nPass it with --key'],
    ['a missing scope', refusal(403, 'forbidden'), 1, 'posthorn: It is forbidden.\nPass another key with --key.'],
  ])('says what %s means, after one request', async (_title, response, code, message) => {
    const result = await posthorn(['accounts', 'sync', 'acc_1'], response)
    expect(result).toMatchObject({ code, error: expect.stringContaining(message) })
    expect(result.requests).toHaveLength(1)
  })

  it('changes something without an idempotency key, because it makes one attempt', async () => {
    const { code, requests } = await posthorn(['accounts', 'pause', 'acc_1'], json({ id: 'acc_1' }))
    expect([code, requests.map(({ headers }) => headers['idempotency-key'])]).toEqual([0, [undefined, undefined]])
  })

  it('refuses an operand that would lead to another path', async () => {
    const { code, error, requests } = await posthorn(['keys', 'revoke', '..'], json({}))
    expect([code, error, requests]).toEqual([2, expect.stringContaining('posthorn: ".." is not an id.'), []])
  })
})

it('an import repeats a request only where it waits itself', async () => {
  const server = closing(await startReceiver())
  const busy = refusal(429, 'rate_limited', { 'retry-after': '0' })
  server.always(busy)
  const posthorn = new Posthorn({ baseUrl: server.url, apiKey: 'key' })
  const body = { provider: 'gmail', refreshToken: 'r', email: null, customUserId: 'u' } as const
  const link = () => linkAccount(posthorn, body, new AbortController().signal)
  expect(await link()).toEqual({ status: 'failed', reason: 'It is rate_limited.' })
  expect(server.requests).toHaveLength(5)
  server.script(busy, json({ id: 'acc_1' }))
  expect(await link()).toEqual({ status: 'imported', accountId: 'acc_1' })
  expect(server.requests).toHaveLength(7)
  server.always({ status: 503, body: '<h1>Bad gateway</h1>' })
  await expect(link()).rejects.toMatchObject({ status: 503 })
  expect(server.requests).toHaveLength(8)
})
