import * as Type from 'typebox'
import { documented, documentedDefault } from '../../platform/formats/json-schema.ts'
import { MAX_LENGTH_DAYS } from '../slots/slot-rules.ts'
import { DAY_NAMES } from './experience.ts'
import { kept, zone } from './schema-parts.ts'

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

export const availability = Type.Object(
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
        1,
        43_200,
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
