import type { Db } from '../../infra/db/index.ts'
import type { App, Idempotency } from '../../infra/http/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { deduplicationKey } from './key.ts'
import { configBody, configSchema, testAnswer, testBody } from './schemas.ts'
import { deduplicationStore } from './store.ts'

const tags = ['Webhooks']
const PATH = '/cursor-sync/deduplication'

export function deduplicationRoutes(app: App, deps: { db: Db; clock: Clock; idempotency: Idempotency }): void {
  const { db, clock, idempotency } = deps

  app.get(
    `${PATH}/config`,
    {
      config: { access: 'key:read' },
      schema: { tags, summary: 'Get the settings of deduplication', response: { 200: configSchema } },
    },
    () => deduplicationStore(db.read).config(),
  )

  app.post(
    `${PATH}/config`,
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        summary: 'Change the settings of deduplication',
        description: 'What is not given stays as it is. Counts for events from now on, on all replicas.',
        body: configBody,
        response: { 200: configSchema },
      },
    },
    idempotency.writing(async ({ body }) => {
      const { keyFields, ...rest } = body ?? {}
      const changes = { ...rest, ...(keyFields !== undefined && { keyFields: [...new Set(keyFields)] }) }
      return (tx) => deduplicationStore(tx).configure(changes)
    }),
  )

  app.post(
    `${PATH}/test`,
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        summary: 'Try out whether a second event like this one would be suppressed',
        description: 'The first call answers false, the same call within ttlSeconds true. Suppresses no delivery.',
        body: testBody,
        response: { 200: testAnswer },
      },
    },
    idempotency.writing(async ({ body }) => {
      const { accountId, eventType, provider, objectId = null, version = null, data } = body
      return async (tx) => {
        const store = deduplicationStore(tx)
        const config = await store.config()
        const { enabled, keyFields, ttlSeconds } = config
        const subject = { accountId, eventType, provider, objectId, version, data }
        const key = deduplicationKey('test', keyFields, subject)
        const nowMs = clock.now()
        const claim = { key, eventId: 'test', expiresAt: nowMs + ttlSeconds * 1000 }
        const isDuplicate = enabled && !(await store.take(claim, nowMs))
        return { success: true, isDuplicate, key, ttlSeconds, config }
      }
    }),
  )
}
