import { type Static, type TProperties, Type } from 'typebox'
import { documented, documentedDefault, nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { listSchema } from '../../platform/http/index.ts'
import { MAX_LENGTH_DAYS } from '../slots/rules.ts'
import { DAY_NAMES } from './experience.ts'

/** Nested objects keep the members that an application adds, and responses return them. */
const kept = { additionalProperties: true } as const

const zone = (description: string) => Type.String({ maxLength: 64, description, examples: ['Europe/Berlin'] })
const clock = (description: string, example: string) => Type.String({ maxLength: 5, description, examples: [example] })
const minutes = (minimum: number, maximum: number, description: string, more: object = {}) =>
  Type.Integer({ minimum, maximum, description, ...more })
/** The length of a slot. A longer one would not fit into the range of a list. */
const length = (description: string, more: object = {}) =>
  Type.Number({
    minimum: 5,
    maximum: MAX_LENGTH_DAYS * 1440,
    description: `${description} Rounded to whole seconds.`,
    ...more,
  })
const freeForm = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description })

const openHours = Type.Object(
  {
    days: Type.Array(
      Type.Union([Type.Integer({ minimum: 0, maximum: 6 }), Type.Unsafe<string>(Type.Enum([...DAY_NAMES]))]),
      {
        minItems: 1,
        maxItems: 7,
        uniqueItems: true,
        description: 'Days of the week: 0 or `sunday` to 6 or `saturday`.',
        examples: [[1, 2, 3, 4, 5]],
      },
    ),
    start: clock('Wall clock.', '09:00'),
    end: clock('Wall clock, up to 24:00. An end that is not after the start is on the next day.', '17:00'),
    timezone: Type.Optional(zone('IANA name. Default: that of the availability, else of the experience.')),
  },
  { title: 'OpenHours', ...kept },
)

const override = Type.Object(
  {
    date: Type.String({ maxLength: 10, examples: ['2026-12-24'] }),
    start: Type.Optional(clock('Wall clock.', '09:00')),
    end: Type.Optional(clock('Wall clock, up to 24:00.', '12:00')),
    closed: Type.Optional(Type.Boolean({ description: 'True: nothing can be booked on this date.' })),
  },
  {
    title: 'AvailabilityOverride',
    description: 'Replaces the open hours of a date. Several of one date add up.',
    ...kept,
    ...documented({
      anyOf: [{ required: ['start', 'end'] }, { properties: { closed: { const: true } }, required: ['closed'] }],
    }),
  },
)

const availability = Type.Object(
  {
    timezone: Type.Optional(zone('IANA name. Default: that of the experience.')),
    openHours: Type.Optional(Type.Array(openHours, { maxItems: 200 })),
    overrides: Type.Optional(Type.Array(override, { maxItems: 1000 })),
    bufferBeforeMinutes: Type.Optional(minutes(0, 1440, 'Free time before a booking.')),
    bufferAfterMinutes: Type.Optional(minutes(0, 1440, 'Free time after a booking.')),
    minimumNoticeMinutes: Type.Optional(minutes(0, 525_600, 'How long before its start a slot can be booked.')),
    maximumDaysAhead: Type.Optional(minutes(1, 1095, 'How many days ahead slots can be booked.')),
    maximumPerDay: Type.Optional(minutes(1, 1000, 'Bookings of this experience per host and date.')),
    intervalMinutes: Type.Optional(
      length(
        'Between the starts of slots. Lists may ask for a multiple. Default: what a list asks for, else the duration.',
      ),
    ),
    durationMinutes: Type.Optional(length('Length of a booking.', documentedDefault(30))),
    durations: Type.Optional(
      Type.Array(length('Minutes.'), {
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description: 'The lengths that a guest can choose from.',
      }),
    ),
    assignment: Type.Optional(
      Type.Enum(['collective', 'round_robin'], {
        description: 'collective: every host must be free and takes part. round_robin: one of them.',
        ...documentedDefault('collective'),
      }),
    ),
    checkCalendars: Type.Optional(
      Type.Enum(['live', 'stored'], {
        description:
          'Which busy times a booking reads. live: the calendars at the providers, in a request of up to 5 seconds, so that nothing is booked over a meeting that was just made. stored: what the last sync found.',
        ...documentedDefault('live'),
      }),
    ),
    decisionMinutes: Type.Optional(
      minutes(
        ...([1, 43_200] as const),
        'How long you may take to decide about a booking that your callback answered with `pending`.',
        documentedDefault(1440),
      ),
    ),
    reminders: Type.Optional(
      Type.Array(minutes(0, 40_320, 'Minutes before the start.'), {
        maxItems: 10,
        uniqueItems: true,
        description: 'When guests are reminded. Empty: never.',
        ...documentedDefault([1440, 60]),
      }),
    ),
    conference: Type.Optional(
      Type.Boolean({
        description: 'True: bookings get a link to Google Meet or Microsoft Teams.',
        ...documentedDefault(false),
      }),
    ),
    weights: Type.Optional(
      Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0, maximum: 1000 }), {
        description: 'Share of the bookings of a round robin, by account id. Default 1.',
      }),
    ),
  },
  {
    title: 'ExperienceAvailability',
    description: 'When hosts can be booked. Without `availabilityEndpoint`, slots are made from it.',
    ...kept,
  },
)

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

const option = Type.Object(
  { value: Type.String({ minLength: 1, maxLength: 500 }), label: Type.String({ minLength: 1, maxLength: 500 }) },
  kept,
)

const formField = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'Unique. The member of `responses`.' }),
    label: Type.String({ minLength: 1, maxLength: 500 }),
    type: Type.Enum(['text', 'email', 'phone', 'textarea', 'select', 'multiselect', 'checkbox']),
    required: Type.Optional(Type.Boolean(documentedDefault(false))),
    placeholder: Type.Optional(Type.String({ maxLength: 500 })),
    options: Type.Optional(Type.Array(option, { maxItems: 200, description: 'Required for select and multiselect.' })),
  },
  { title: 'BookingFormField', ...kept },
)

const answer = Type.Union([Type.String({ maxLength: 500 }), Type.Boolean()])

const routingRule = Type.Object(
  {
    when: Type.Object(
      {
        field: Type.String({ description: 'Name of a field of the form.' }),
        equals: Type.Optional(answer),
        in: Type.Optional(Type.Array(answer, { minItems: 1, maxItems: 200 })),
      },
      { description: 'Either `equals` or `in`. Of a multiselect, one chosen value must match.', ...kept },
    ),
    accountIds: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 100, uniqueItems: true })),
    slug: Type.Optional(Type.String({ description: 'Another experience.' })),
    redirectUrl: Type.Optional(Type.String({ maxLength: 2048 })),
  },
  {
    title: 'RoutingRule',
    description: 'Leads to hosts, to another experience, or to a page: exactly one of them.',
    ...kept,
    ...documented({
      oneOf: [{ required: ['accountIds'] }, { required: ['slug'] }, { required: ['redirectUrl'] }],
    }),
  },
)

const formMembers = {
  title: Type.Optional(Type.String({ maxLength: 500 })),
  description: Type.Optional(Type.String({ maxLength: 5000 })),
  submitButtonLabel: Type.Optional(Type.String({ maxLength: 100 })),
  fields: Type.Optional(Type.Array(formField, { maxItems: 50 })),
  verifyEmail: Type.Optional(
    Type.Boolean({
      description: 'A guest must enter a code that is sent to the address.',
      ...documentedDefault(false),
    }),
  ),
} satisfies TProperties

const bookingForm = Type.Object(
  {
    ...formMembers,
    routing: Type.Optional(
      Type.Array(routingRule, {
        maxItems: 100,
        description: 'Chooses hosts by the answers. The first rule that matches applies. Never shown to guests.',
      }),
    ),
  },
  { title: 'BookingForm', ...kept },
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
