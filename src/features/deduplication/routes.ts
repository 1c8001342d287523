import type { Db } from '../../infra/db/index.ts'
import type { App, Idempotency } from '../../infra/http/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { configBody, configSchema, testAnswer, testBody } from './api.ts'
import { databaseClaims } from './database-claims.ts'
import { deduplicationKey } from './key.ts'
import type { SharedClaims } from './shared-claims.ts'
import { deduplicationStore } from './store.ts'

const tags = ['Webhooks']
const PATH = '/cursor-sync/deduplication'

export interface DeduplicationRoutesDeps {
  db: Db
  clock: Clock
  ids: Ids
  idempotency: Idempotency
  /** Where the keys are held, when not in the database. */
  claims: SharedClaims | undefined
}

export function deduplicationRoutes(app: App, deps: DeduplicationRoutesDeps): void {
  const { db, clock, ids, idempotency, claims } = deps

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
      const config = await deduplicationStore(db.read).config()
      const { enabled, keyFields, ttlSeconds } = config
      const ttlMs = ttlSeconds * 1000
      const key = deduplicationKey('test', keyFields, { accountId, eventType, provider, objectId, version, data })
      const claim = { key, eventId: ids('evt'), atMs: clock.now() }
      const shared = enabled ? await claims?.claim([claim], ttlMs) : undefined
      return async (tx) => {
        const holders = enabled ? (shared ?? (await databaseClaims(tx).claim([claim], ttlMs))) : [claim.eventId]
        return { success: true, isDuplicate: holders[0] !== claim.eventId, key, ttlSeconds, config }
      }
    }),
  )
}
