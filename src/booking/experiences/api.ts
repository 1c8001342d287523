import type { Static } from 'typebox'
import * as Type from 'typebox'
import { documentedDefault, nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { listSchema } from '../../platform/http/index.ts'
import { availability } from './availability-schema.ts'
import { bookingForm, formMembers } from './form-schema.ts'
import { kept, zone } from './schema-parts.ts'

const freeForm = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description })

const callbackEndpoint = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'HTTPS URL. Plain http is allowed only for hosts that PRIVATE_TARGETS covers.',
      examples: ['https://app.example.com/scheduler/availability'],
    }),
    method: Type.Optional(Type.Enum(['POST', 'PUT', 'PATCH'], documentedDefault('POST'))),
    headers: Type.Optional({
      ...nullable(Type.Record(Type.String(), Type.String({ maxLength: 8192 }))),
      description:
        'Sent with each request. Stored encrypted; reads show `***` instead of the values, and `***` keeps the stored value.',
    }),
    secret: Type.Optional({
      ...nullable(Type.String({ minLength: 1, maxLength: 512 })),
      description:
        'Signs the requests (Standard Webhooks) instead of the `callbackSecret` of the experience. `whsec_…` is base64; any other text is used as its UTF-8 bytes. Reads show `***`, and `***` keeps the stored secret.',
    }),
  },
  { title: 'CallbackEndpoint', ...kept },
)

const ui = Type.Object(
  {
    theme: Type.Optional(Type.Unknown()),
    layout: Type.Optional(Type.Unknown()),
    copy: Type.Optional(Type.Unknown()),
    host: Type.Optional(
      Type.Unknown({
        description:
          'Who is shown beside the experience: `name`, `title`, and `photo`, a `data:` URL of a PNG, JPEG or WebP image.',
      }),
    ),
  },
  { title: 'ExperienceUi', description: 'Appearance of the booking page and the widget.', ...kept },
)

const name = Type.String({ minLength: 1, maxLength: 200 })
const slug = Type.String({
  pattern: '^[a-z0-9-]{3,64}$',
  description: 'Names the experience in paths and links. Cannot be changed.',
  examples: ['intro-call'],
})
const timezone = zone('IANA name.')
const accountIds = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 100,
  uniqueItems: true,
  description:
    'Ids of the accounts that are the hosts. An id whose account is deleted later remains, and its host is then never free.',
})
const origins = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 50,
  description:
    'Origins of pages that may embed the booking page and call the public endpoints, such as `https://app.example.com`; `*` allows every origin.',
})
const isActive = Type.Boolean({ description: 'False: the experience does not exist for guests.' })

const DEFAULTED = 'Null and omitted are the same.'
const optional = {
  description: Type.Optional(nullable(Type.String({ maxLength: 5000 }))),
  timezone: Type.Optional(nullable(timezone)),
  isActive: Type.Optional(isActive),
  defaultAccountIds: Type.Optional(nullable(accountIds)),
  metadata: Type.Optional({ ...nullable(freeForm('Yours. Sent to the callbacks.')), description: DEFAULTED }),
  availability: Type.Optional(nullable(availability)),
  availabilityEndpoint: Type.Optional(nullable(callbackEndpoint)),
  bookingEndpoint: Type.Optional(nullable(callbackEndpoint)),
  routingEndpoint: Type.Optional(nullable(callbackEndpoint)),
  bookingForm: Type.Optional(nullable(bookingForm)),
  ui: Type.Optional(nullable(ui)),
  allowedOrigins: Type.Optional(nullable(origins)),
}

/** Properties with the defaults of a new experience. */
const defaulted = {
  description: Type.Optional({ ...optional.description, ...documentedDefault('') }),
  timezone: Type.Optional({ ...optional.timezone, ...documentedDefault('UTC') }),
  isActive: Type.Optional({ ...isActive, ...documentedDefault(true) }),
  defaultAccountIds: Type.Optional({ ...optional.defaultAccountIds, ...documentedDefault([]) }),
  metadata: Type.Optional({ ...optional.metadata, ...documentedDefault({}) }),
  allowedOrigins: Type.Optional({ ...optional.allowedOrigins, ...documentedDefault([]) }),
}

export const createBody = Type.Object({ slug, name, ...optional, ...defaulted }, { title: 'ExperienceCreate' })
export type CreateBody = Static<typeof createBody>

export const updateBody = Type.Object(
  { name: Type.Optional(name), ...optional },
  {
    title: 'ExperienceUpdate',
    description: 'Omitted members stay as they are; null clears. Nested objects and lists are replaced as a whole.',
  },
)
export type UpdateBody = Static<typeof updateBody>

export const experienceParams = Type.Object({
  slug: Type.String({ minLength: 1, description: 'The slug of the experience.' }),
})

const mailLimit = Type.Object(
  {
    limit: Type.Enum(['experience', 'client', 'account', 'address'], { description: 'The budget that was used up.' }),
    limitedAt: timestamp('When the first request was refused.'),
    refusedRequests: Type.Integer(),
  },
  {
    title: 'MailLimit',
    description:
      'Present while requests of the last 24 hours were refused, because too many messages would have gone to addresses that nobody has verified.',
  },
)

export const experienceSchema = Type.Object(
  {
    id: Type.String(),
    slug,
    name,
    description: Type.String(),
    timezone,
    isActive: Type.Boolean(),
    defaultAccountIds: Type.Array(Type.String()),
    metadata: freeForm('Yours. Sent to the callbacks.'),
    availability: nullable(availability),
    availabilityEndpoint: nullable(callbackEndpoint),
    bookingEndpoint: nullable(callbackEndpoint),
    routingEndpoint: nullable(callbackEndpoint),
    bookingForm: nullable(bookingForm),
    ui: nullable(ui),
    allowedOrigins: Type.Array(Type.String()),
    mailLimit: Type.Optional(mailLimit),
    bookingUrl: Type.String({ description: 'The booking page.' }),
    callbackSecret: Type.Optional(
      Type.String({
        description:
          'Signs the requests to endpoints without a secret of their own. Present only in the response that creates the experience.',
      }),
    ),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Experience' },
)
export type ExperienceView = Static<typeof experienceSchema>

/** The public view of an active experience. */
export const publicSchema = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    timezone: Type.String(),
    bookingForm: nullable(Type.Object(formMembers, { title: 'PublicBookingForm', ...kept })),
    ui: nullable(ui),
    durationMinutes: Type.Number({ description: 'The length of a booking if the guest chooses none.' }),
    durations: Type.Array(Type.Number(), { description: 'The lengths that a guest can choose from, in minutes.' }),
    sendsMessages: nullable(
      Type.Boolean({
        description:
          'Whether guests get messages: true with hosts, false without. Null: it depends on the hosts that an endpoint or a rule names.',
      }),
    ),
  },
  { title: 'PublicExperience' },
)
export type PublicExperience = Static<typeof publicSchema>

export const experienceList = listSchema('experiences', experienceSchema)
