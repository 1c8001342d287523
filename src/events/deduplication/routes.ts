import type { FastifyRequest } from 'fastify'
import type { Db } from '../../platform/db/index.ts'
import type { App, Idempotency } from '../../platform/http/index.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { configBody, configSchema, testBody, testResult } from './api.ts'
import { databaseClaims } from './database-claims.ts'
import { deduplicationKey } from './duplicates.ts'
import type { SharedClaims } from './redis-claims.ts'
import { deduplicationStore } from './store.ts'

const tags = ['Webhooks']
const PATH = '/cursor-sync/deduplication'

interface DeduplicationRouteDeps {
  db: Db
  clock: Clock
  ids: Ids
  idempotency: Idempotency
  /** Stores the keys instead of the database; undefined without Redis. */
  claims: SharedClaims | undefined
}

export function deduplicationRoutes(app: App, deps: DeduplicationRouteDeps): void {
  const { db, clock, ids, idempotency, claims } = deps

  app.get(
    `${PATH}/config`,
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getDeduplicationConfig',
        summary: 'Get the deduplication settings',
        response: { 200: configSchema },
      },
    },
    () => deduplicationStore(db.read).config(),
  )

  app.post(
    `${PATH}/config`,
    {
      config: { access: 'key:write', audit: { action: 'deduplication.configured', details: readSettings } },
      schema: {
        tags,
        operationId: 'updateDeduplicationConfig',
        summary: 'Change the deduplication settings',
        description: 'Omitted members stay unchanged. Applies to new events on all replicas.',
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
        operationId: 'testDeduplication',
        summary: 'Test deduplication with an event',
        description:
          'isDuplicate is false for the first call and true for an equal call within ttlSeconds. Suppresses no delivery.',
        body: testBody,
        response: { 200: testResult },
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

function readSettings({ body }: FastifyRequest) {
  const { enabled, keyFields, ttlSeconds } = Object(body)
  return { enabled, keyFields, ttlSeconds }
}
