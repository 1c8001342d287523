import type { Static } from 'typebox'
import * as Type from 'typebox'
import { documentedDefault, nullable, timestamp } from '../../../platform/formats/json-schema.ts'
import { listSchema } from '../../../platform/http/index.ts'
import { DEFAULT_EVENT_TYPES } from './subscriptions.ts'

const eventTypes = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: 200,
  description:
    'Event types, prefixes such as `message.*`, or `*`. An empty list means all types. Duplicates are dropped. An update replaces the list.',
  examples: [DEFAULT_EVENT_TYPES],
})

const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'HTTPS URL that receives the events. Plain http is allowed only for hosts that PRIVATE_TARGETS covers.',
  examples: ['https://app.example.com/hooks/posthorn'],
})

const headers = Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
  description: 'Custom headers sent with each delivery. Stored encrypted; reads show `***` instead of the values.',
})

const settings = {
  isActive: Type.Boolean({
    description: 'While false, events create no deliveries and pending deliveries wait.',
  }),
  retryCount: Type.Number({
    minimum: 0,
    maximum: 20,
    description: 'Maximum number of retries of a failed delivery. Rounded down.',
  }),
  retryDelayMs: Type.Number({
    minimum: 0,
    maximum: 86_400_000,
    description: 'Delay between attempts, in milliseconds. Rounded.',
  }),
  retryStrategy: Type.Union([Type.Literal('fixed'), Type.Literal('exponential')], {
    description: 'exponential doubles the delay after every attempt, up to 24 hours.',
  }),
  timeoutMs: Type.Number({
    minimum: 100,
    maximum: 60_000,
    description: 'Timeout of one attempt, in milliseconds. Rounded.',
  }),
}

/** The settings of a new endpoint whose request names none. */
export const DEFAULT_SETTINGS = {
  isActive: true,
  retryCount: 3,
  retryDelayMs: 1000,
  retryStrategy: 'fixed',
  timeoutMs: 30_000,
} as const

const newSettings = {
  isActive: Type.Optional({ ...settings.isActive, ...documentedDefault(DEFAULT_SETTINGS.isActive) }),
  retryCount: Type.Optional({ ...settings.retryCount, ...documentedDefault(DEFAULT_SETTINGS.retryCount) }),
  retryDelayMs: Type.Optional({ ...settings.retryDelayMs, ...documentedDefault(DEFAULT_SETTINGS.retryDelayMs) }),
  retryStrategy: Type.Optional({ ...settings.retryStrategy, ...documentedDefault(DEFAULT_SETTINGS.retryStrategy) }),
  timeoutMs: Type.Optional({ ...settings.timeoutMs, ...documentedDefault(DEFAULT_SETTINGS.timeoutMs) }),
}

const changedSettings = {
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
      Type.String({
        pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$',
        description: 'Your own identifier, except `.` and `..`, which are no part of a URL. Generated when omitted.',
      }),
    ),
    secret: Type.Optional({
      ...secret,
      description:
        'Signs the payloads (Standard Webhooks). Omitted: the service generates a secret and returns it in this response only. null: deliveries are unsigned. `whsec_…` is base64; any other text is used as its UTF-8 bytes.',
    }),
    eventTypes: Type.Optional({ ...eventTypes, ...documentedDefault(DEFAULT_EVENT_TYPES) }),
    headers: Type.Optional(nullable(headers)),
    ...newSettings,
  },
  { title: 'WebhookEndpointCreate' },
)
export type CreateBody = Static<typeof createBody>

export const updateBody = Type.Object(
  {
    url: Type.Optional(url),
    secret: Type.Optional({
      ...secret,
      description:
        'Rotates the secret. The previous secret keeps signing beside the new one for 24 hours. null: deliveries are unsigned from now on.',
    }),
    eventTypes: Type.Optional(eventTypes),
    headers: Type.Optional({
      ...nullable(headers),
      description:
        'Replaces all custom headers. The value `***` keeps the stored value of that header. null removes them all.',
    }),
    ...changedSettings,
  },
  { title: 'WebhookEndpointUpdate' },
)
export type UpdateBody = Static<typeof updateBody>

export const endpointParams = Type.Object({
  endpointId: Type.String({ minLength: 1, description: 'The id of the endpoint.' }),
})

const circuit = Type.Object(
  {
    state: Type.Enum(['closed', 'open', 'half_open'], {
      type: 'string',
      description:
        'closed: deliveries are sent. open: deliveries wait without using attempts. half_open: one delivery probes the endpoint.',
    }),
    openedAt: nullable(timestamp()),
    nextProbeAt: nullable(timestamp('When the next delivery probes the endpoint. Null while closed.')),
    failures: Type.Integer({
      description: 'Failed attempts since the last success. Replays and tests do not count.',
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
      Type.String({
        description: 'Present only in the response that creates the endpoint, if the service generated it.',
      }),
    ),
    eventTypes: Type.Array(Type.String()),
    headers: Type.Record(Type.String(), Type.String()),
    ...settings,
    lastDeliveryAt: nullable(timestamp('Time of the last successful delivery.')),
    circuit,
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'WebhookEndpoint' },
)
export type EndpointView = Static<typeof endpointSchema>

export const endpointList = listSchema('endpoints', endpointSchema)
