import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { requestsInProcess } from './in-process.ts'
import { restApi } from './rest-api.ts'

const ACCESS = { config: { access: 'key:read' } } as const

/** A server whose `GET /call?path=` requests that path in this process, and returns what `read` makes of it. */
function server(read: (api: ReturnType<typeof restApi>, path: string) => Promise<unknown>) {
  const app = testServer()
  onTestFinished(() => app.close())
  app.get<{ Querystring: { path: string } }>('/call', ACCESS, async (request) => {
    const api = restApi(requestsInProcess(app, request), new AbortController().signal)
    return { result: await read(api, request.query.path) }
  })
  const call = (path: string, headers = {}) =>
    app.inject({ url: '/call', query: { path }, headers: { authorization: 'Bearer good', ...headers } })
  return { app, call }
}

it('requests as the caller, under the id of the call with a number', async () => {
  const { app, call } = server(async (api, path) => [await api.get(path), await api.get(path)])
  app.get('/whoami', ACCESS, async ({ id, caller }) => ({ id, owner: caller?.owner }))
  app.get('/admin-only', { config: { access: 'key:admin' } }, async () => ({}))
  const response = await call('/whoami', { 'x-request-id': 'abc' })
  expect(response.json()).toEqual({
    result: [
      { id: 'abc.1', owner: 'good' },
      { id: 'abc.2', owner: 'good' },
    ],
  })
  expect((await call('/admin-only', { authorization: 'Bearer reader' })).statusCode).toBe(500)
})

it('ends the source of a download that it does not read to the end', async () => {
  const { app, call } = server(async (api, path) => (await api.download(path, 100_000)).bytes.length)
  let isDestroyed = false
  app.get('/endless', ACCESS, async (_request, reply) => {
    const source = new Readable({
      read() {
        this.push(Buffer.alloc(10_000))
      },
      destroy(error, done) {
        isDestroyed = true
        done(error)
      },
    })
    return reply.type('application/octet-stream').send(source)
  })
  expect((await call('/endless')).json()).toEqual({ result: 100_000 })
  await eventually(() => isDestroyed)
})
