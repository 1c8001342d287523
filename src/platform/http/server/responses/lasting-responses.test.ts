import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../../test/kit/eventually.ts'
import { testServer } from '../../../../../test/kit/http/server.ts'
import { closeServer } from '../connections.ts'

it('ends streams of a caller that lost access, and no others', async () => {
  const keys = new Set(['kept', 'revoked'])
  const app = testServer({
    accessCheckMs: 20,
    authenticator: {
      async authenticate({ headers }) {
        const key = String(headers['x-api-key'])
        return keys.has(key) ? { owner: key, scopes: ['read'] } : undefined
      },
    },
  })
  const sent: (() => void)[] = []
  app.get('/stream', { config: { access: 'key:read' } }, async () => {
    const stream = new Readable({ read() {} })
    stream.push('first ')
    sent.push(() => {
      stream.push('last')
      stream.push(null)
    })
    return stream
  })
  onTestFinished(() => closeServer(app, 0))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const open = (key: string) => fetch(`${url}/stream`, { headers: { 'x-api-key': key } })
  const [kept, revoked] = [await open('kept'), await open('revoked')]
  keys.delete('revoked')
  await expect(revoked.text()).rejects.toThrow()
  for (const end of sent) end()
  expect(await kept.text()).toBe('first last')
})

it('asks once for all streams with the same credentials', async () => {
  const asked = { one: 0, ten: 0 }
  const app = testServer({
    accessCheckMs: 20,
    authenticator: {
      async authenticate({ headers }, isUse) {
        const key = headers['x-api-key'] === 'one' ? 'one' : 'ten'
        if (!isUse) asked[key] += 1
        return { owner: key, scopes: ['read'] }
      },
    },
  })
  app.get('/stream', { config: { access: 'key:read' } }, async () => {
    const stream = new Readable({ read() {} })
    stream.push('first ')
    return stream
  })
  onTestFinished(() => closeServer(app, 0))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const open = (key: string) => fetch(`${url}/stream`, { headers: { 'x-api-key': key } })
  await open('one')
  for (let count = 0; count < 10; count += 1) await open('ten')
  await eventually(() => expect(asked.one).toBeGreaterThan(10))
  expect(asked.ten).toBeLessThanOrEqual(asked.one + 1)
})
