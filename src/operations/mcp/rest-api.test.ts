import { expect, it } from 'vitest'
import { type ApiRequest, apiPath, restApi } from './rest-api.ts'

const never = new AbortController().signal

/** Returns these responses in order, and records the requests. */
function scripted(...responses: (() => Response)[]) {
  const requests: ApiRequest[] = []
  const send = async (request: ApiRequest) => {
    requests.push(request)
    const next = responses.shift()
    if (next === undefined) throw new Error('no response is left')
    return next()
  }
  return { requests, send }
}

function refusal(status: number, code: string, type = 'api', headers = {}): () => Response {
  const error = { code, type, message: `About ${code}.\u202e`, details: [{ path: 'body.to.0', message: 'is wrong' }] }
  return () => new Response(JSON.stringify({ success: false, error, requestId: 'req_1' }), { status, headers })
}

it('encodes every value of a path, and refuses those that name another one', () => {
  expect(apiPath`/accounts/${'a/b?c'}/messages/${'ä'}`).toBe('/accounts/a%2Fb%3Fc/messages/%C3%A4')
  for (const value of ['.', '..']) expect(() => apiPath`/drafts/${value}/send`).toThrow(/is not an id/)
})

it('sends queries without absent values, and bodies as JSON', async () => {
  const { requests, send } = scripted(...Array.from({ length: 2 }, () => () => new Response('{"a":1}')))
  const api = restApi(send, never)
  expect(await api.get('/x', { q: 'a b', limit: 2, cursor: undefined })).toEqual({ a: 1 })
  await api.send('POST', '/y', { query: { z: true }, body: { b: 2 }, headers: { 'if-match': '3' } })
  expect(requests).toMatchObject([
    { method: 'GET', path: '/x?q=a+b&limit=2', body: undefined },
    {
      method: 'POST',
      path: '/y?z=true',
      body: '{"b":2}',
      headers: { 'if-match': '3', 'content-type': 'application/json' },
    },
  ])
})

it.each([
  [refusal(400, 'validation_failed'), /400 validation_failed\): About validation_failed\. to\.0: is wrong\. Correct/],
  [refusal(401, 'unauthorized'), /API key in the configuration/],
  [refusal(403, 'forbidden'), /Do not try again: this key does not permit it/],
  [refusal(404, 'not_found'), /Get current ids/],
  [refusal(429, 'rate_limited', 'api', { 'retry-after': '7' }), /in 7 seconds/],
  [refusal(502, 'provider_unavailable', 'provider'), /provider of the mailbox has a problem/],
  [refusal(409, 'quota_exceeded', 'provider'), /refuses this, and will refuse/],
  [refusal(504, 'callback_timeout', 'callback'), /application behind the booking page failed/],
  [refusal(500, 'internal', 'server'), /a problem of Posthorn, not of your arguments.*Request id: req_1/],
  [() => new Response('<html>', { status: 502 }), /responded 502, but not as Posthorn does/],
])('says whose fault a refusal is, and what to do (%#)', async (response, text) => {
  const failed = restApi(scripted(response).send, never).get('/x')
  await expect(failed).rejects.toThrow(text)
  await expect(failed).rejects.not.toThrow(/\u202e/)
})

it('stops reading a download at its limit', async () => {
  let read = 0
  const endless = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          read += 1
          controller.enqueue(new Uint8Array(1000))
        },
      }),
    )
  const { bytes, isComplete } = await restApi(scripted(endless).send, never).download('/x', 2500)
  expect([bytes.length, isComplete]).toEqual([2500, false])
  expect(read).toBeLessThan(10)
  const small = await restApi(scripted(() => new Response('abc')).send, never).download('/x', 3)
  expect([small.bytes.toString(), small.isComplete]).toEqual(['abc', true])
})

it('ends a request when the client cancels the call', async () => {
  const controller = new AbortController()
  const send = ({ signal }: ApiRequest) =>
    new Promise<Response>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const pending = restApi(send, controller.signal).get('/x')
  controller.abort(new Error('cancelled'))
  await expect(pending).rejects.toThrow('cancelled')
})
