import { type Static, Type } from 'typebox'
import { listOf } from '../../../infra/http/index.ts'
import { nullable, timestamp } from '../../../lib/json-schema.ts'
import { DEFAULT_EVENT_TYPES } from './subscriptions.ts'

const eventTypes = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: 200,
  description:
    'Event types, prefixes such as "message.*", or "*". Empty means all. Duplicates are dropped. On update it replaces the list.',
  examples: [DEFAULT_EVENT_TYPES],
})

const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'HTTPS address that receives events; plain http only where PRIVATE_TARGETS covers it.',
  examples: ['https://app.example.com/hooks/posthorn'],
})

const headers = Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
  description: 'Custom headers sent with each delivery. Kept encrypted; reads show the names and "***".',
})

const settings = {
  isActive: Type.Boolean({ description: 'While false, no deliveries are made and pending ones wait. Default true.' }),
  retryCount: Type.Integer({
    minimum: 0,
    maximum: 20,
    description: 'How often a failed delivery is retried. Default 3.',
  }),
  retryDelayMs: Type.Integer({
    minimum: 0,
    maximum: 86_400_000,
    description: 'Milliseconds between attempts. Default 1000.',
  }),
  retryStrategy: Type.Union([Type.Literal('fixed'), Type.Literal('exponential')], {
    description: 'exponential doubles retryDelayMs with every attempt, up to 24 hours. Default fixed.',
  }),
  timeoutMs: Type.Integer({ minimum: 100, maximum: 60_000, description: 'Limit of one attempt. Default 30000.' }),
}

const optionalSettings = {
  isActive: Type.Optional(settings.isActive),
  retryCount: Type.Optional(settings.retryCount),
  retryDelayMs: Type.Optional(settings.retryDelayMs),
  retryStrategy: Type.Optional(settings.retryStrategy),
  timeoutMs: Type.Optional(settings.timeoutMs),
}

const secret = nullable(Type.String({ minLength: 1, maxLength: 512 }))

export const createBody = Type.Object(
  {
    url,
    id: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$', description: 'Your own identifier; made when omitted.' }),
    ),
    secret: Type.Optional({
      ...secret,
      description:
        'Signs payloads by Standard Webhooks. Omitted: one is made and shown in this answer only. null: unsigned. "whsec_…" is base64, any other text signs as its UTF-8 bytes.',
    }),
    eventTypes: Type.Optional({ ...eventTypes, default: DEFAULT_EVENT_TYPES }),
    headers: Type.Optional(nullable(headers)),
    ...optionalSettings,
  },
  { title: 'WebhookEndpointCreate' },
)
export type CreateBody = Static<typeof createBody>

export const updateBody = Type.Object(
  {
    url: Type.Optional(url),
    secret: Type.Optional({
      ...secret,
      description: 'Rotates the secret; the old one signs beside it for 24 hours. null: unsigned from now on.',
    }),
    eventTypes: Type.Optional(eventTypes),
    headers: Type.Optional({
      ...nullable(headers),
      description: 'Replaces the set; a value of "***" keeps the stored value of that header. null removes all.',
    }),
    ...optionalSettings,
  },
  { title: 'WebhookEndpointUpdate' },
)
export type UpdateBody = Static<typeof updateBody>

export const endpointParams = Type.Object({ endpointId: Type.String({ minLength: 1 }) })

const circuit = Type.Object(
  {
    state: Type.Enum(['closed', 'open', 'half_open'], {
      type: 'string',
      description:
        'open: deliveries wait, without using attempts. half_open: one of them is trying. closed: all are sent.',
    }),
    openedAt: nullable(timestamp()),
    nextProbeAt: nullable(timestamp('When one delivery tries; null while closed.')),
    failures: Type.Integer({
      description: 'Attempts that failed since the last success; replays and tests do not count.',
    }),
  },
  { title: 'WebhookCircuit' },
)

export const endpointSchema = Type.Object(
  {
    id: Type.String(),
    url: Type.String(),
    hasSecret: Type.Boolean(),
    secret: Type.Optional(
      Type.String({ description: 'Only in the answer that creates the endpoint, and only when it was made for you.' }),
    ),
    eventTypes: Type.Array(Type.String()),
    headers: Type.Record(Type.String(), Type.String()),
    ...settings,
    lastDeliveryAt: nullable(timestamp('When a delivery last succeeded.')),
    circuit,
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'WebhookEndpoint' },
)
export type EndpointView = Static<typeof endpointSchema>

export const endpointList = listOf('endpoints', endpointSchema)
