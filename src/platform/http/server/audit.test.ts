import { expect, it, onTestFinished } from 'vitest'
import { testServer } from '../../../../test/kit/http/server.ts'
import { AppError } from '../../errors/app-error.ts'
import type { AuditEntry } from './audit.ts'

const KEY = { authorization: 'Bearer good' }

function served() {
  const entries: AuditEntry[] = []
  let isFailing = false
  const app = testServer({
    idempotency: { isWriting: () => false },
    audit: {
      record: async (_tx, entry) => void entries.push(entry),
      async recordAlone(entry) {
        if (isFailing) throw new Error('the database is away')
        entries.push(entry)
      },
    },
  })
  onTestFinished(() => app.close())
  const fail = () => {
    isFailing = true
  }
  return { app, entries, fail }
}

it('a route that records nothing itself is recorded before its response, once, and only when it succeeds', async () => {
  const { app, entries, fail } = served()
  const config = { access: 'key:write', audit: 'thing.changed' } as const
  app.put<{ Params: { id: string } }>('/things/:id', { config }, async ({ params }) => {
    if (params.id === 'missing') throw new AppError('not_found')
    return { ok: true }
  })
  app.delete('/things/:id', { config: { access: 'key:write' } }, async () => ({ ok: true }))
  for (const id of ['a', 'missing']) await app.inject({ method: 'PUT', url: `/things/${id}`, headers: KEY })
  await app.inject({ method: 'PUT', url: '/things/b' })
  await app.inject({ method: 'DELETE', url: '/things/c', headers: KEY })
  expect(entries).toEqual([
    {
      actor: 'good',
      action: 'thing.changed',
      target: 'a',
      details: {},
      requestId: expect.stringMatching(/^req_/),
      address: '127.0.0.1',
    },
  ])
  fail()
  expect((await app.inject({ method: 'PUT', url: '/things/d', headers: KEY })).statusCode).toBe(500)
})
