import type { Static, TObject } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'

const cacheProvider = Type.Enum(['memory', 'redis'], { type: 'string' })
const queueProvider = Type.Enum(['database', 'redis'], { type: 'string' })
const pubsubProvider = Type.Enum(['memory', 'postgres', 'redis'], { type: 'string' })

const status = Type.Enum(['healthy', 'degraded'], {
  type: 'string',
  description: 'degraded when a required part is down; the status code remains 200.',
})
const services = Type.Object({
  database: Type.Boolean(),
  cache: Type.Boolean(),
  queue: Type.Boolean(),
  pubsub: Type.Boolean(),
})
const gmailPush = Type.Object({
  configured: Type.Boolean(),
  ready: Type.Boolean(),
  mode: Type.Enum(['push', 'polling'], { type: 'string' }),
})
const onboarding = Type.Object({
  canProceed: Type.Boolean({ description: 'True when a mailbox can be connected now.' }),
  reasons: Type.Array(
    Type.Enum(
      [
        'no_provider',
        'licence_full',
        'database_unavailable',
        'settings_invalid',
        'oauth_incomplete',
        'redirect_refused',
      ] as const,
      { type: 'string' },
    ),
  ),
})
const license = Type.Object({
  plan: Type.String(),
  effectiveAccountLimit: nullable(Type.Integer({ description: 'null without a limit.' })),
  currentAccounts: nullable(Type.Integer({ description: 'null while the database does not respond.' })),
})
const remedy = Type.Optional(
  Type.String({ description: 'What an operator can do, in one line. Absent while healthy.' }),
)
const age = nullable(
  Type.Integer({ description: 'How long the oldest has waited, in milliseconds; null when nothing waits.' }),
)
const waiting = (what: string) =>
  nullable(
    Type.Object({
      waiting: Type.Integer({ description: `${what}, counted up to 10,000.` }),
      oldestAgeMs: age,
    }),
  )
const percentage = Type.Number({ description: 'What the process uses of its limit.' })

const responseSchema = <Data extends TObject>(data: Data) => Type.Object({ success: Type.Boolean(), data })

export const summarySchema = responseSchema(
  Type.Object(
    {
      status,
      services,
      cache: Type.Object({ provider: cacheProvider }),
      queue: Type.Object({ provider: queueProvider }),
      pubsub: Type.Object({ provider: pubsubProvider }),
      gmailPush,
      onboarding,
      license,
      memory: Type.Object({ percentage }),
      warnings: Type.Array(Type.String({ examples: ['keys_beside_data'] })),
    },
    { title: 'Health' },
  ),
)

/** Public. */
export type Summary = Static<typeof summarySchema>['data']
export type Reason = Summary['onboarding']['reasons'][number]

const probed = {
  healthy: Type.Boolean(),
  latencyMs: Type.Number(),
  problem: Type.Optional(Type.String()),
  remedy,
}

export const detailedSchema = responseSchema(
  Type.Object(
    {
      status,
      services,
      version: Type.String(),
      instance: Type.String(),
      phase: Type.Enum(['starting', 'migrating', 'ready', 'draining'], { type: 'string' }),
      startedAt: timestamp(),
      uptimeSeconds: Type.Integer(),
      database: Type.Object({ ...probed, engine: Type.Enum(['sqlite', 'postgres'], { type: 'string' }) }),
      cache: Type.Object({ ...probed, provider: cacheProvider }),
      queue: Type.Object({ ...probed, provider: queueProvider }),
      rateLimiter: Type.Object({ ...probed, provider: cacheProvider }),
      pubsub: Type.Object({ ...probed, provider: pubsubProvider }),
      search: Type.Object({ healthy: Type.Boolean(), problem: probed.problem, remedy }),
      gmailPush: Type.Object({ ...gmailPush.properties, problem: probed.problem, remedy }),
      onboarding,
      license,
      timeZones: Type.Object(
        {
          source: Type.Enum(['shipped', 'system', 'runtime'], { type: 'string' }),
          version: Type.String({ examples: ['2026f'] }),
          released: Type.String({ format: 'date', description: 'When this version, or an older one, was packaged.' }),
        },
        { description: 'The time zone database of this instance: the newest of those that are at hand.' },
      ),
      instances: nullable(
        Type.Integer({ description: 'Running instances; null while the database does not respond.' }),
      ),
      sync: nullable(
        Type.Object({
          stalledAccounts: Type.Integer({ description: 'Without a successful check in three intervals.' }),
          unownedAccounts: Type.Integer({ description: 'That no running instance owns.' }),
          greatestLagMs: Type.Integer({ description: 'How long the check of an account is overdue, at most.' }),
        }),
      ),
      outbox: nullable(
        Type.Object({
          waiting: Type.Integer({ description: 'Messages to send, counted up to 10,000.' }),
          oldestAgeMs: age,
          uncertain: Type.Integer({ description: 'Messages of which it is unknown whether they were sent.' }),
        }),
      ),
      deliveries: waiting('Webhook deliveries that wait for an attempt'),
      events: waiting('Events that have no deliveries yet'),
      eventLoop: Type.Object(
        { meanMs: Type.Integer(), p99Ms: Type.Integer(), maxMs: Type.Integer() },
        { description: 'How late the event loop of this instance was in the last minute.' },
      ),
      logExport: Type.Object(
        { enabled: Type.Boolean(), dropped: Type.Integer() },
        { description: 'The export of the log over OTLP, and the records lost since the start.' },
      ),
      providers: Type.Array(
        Type.Object({
          name: Type.String(),
          canConnect: Type.Boolean(),
          remedy,
          redirectUri: Type.Optional(Type.String({ description: 'Register exactly this URI at the provider.' })),
        }),
      ),
      memory: Type.Object({
        percentage,
        limit: Type.Enum(['container', 'heap'], {
          type: 'string',
          description:
            'The limit that the process reaches first: rssBytes that of the container, or heapUsedBytes that of the heap.',
        }),
        limitBytes: Type.Integer(),
        rssBytes: Type.Integer(),
        heapUsedBytes: Type.Integer(),
      }),
      warnings: Type.Array(Type.Object({ code: Type.String(), message: Type.String(), remedy: Type.String() })),
    },
    { title: 'DetailedHealth' },
  ),
)

/** Requires an API key. */
export type Detailed = Static<typeof detailedSchema>['data']

export const statusSchema = responseSchema(Type.Object({ status: Type.String() }))
