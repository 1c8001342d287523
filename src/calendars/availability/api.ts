import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import type { TimeRange } from '../../providers/contract/index.ts'

/** A larger response is refused: slots times participants. */
export const MAX_ENTRIES = 10_000
export const MAX_DAYS = 62
const MAX_PARTICIPANTS = 50

const time = (description: string) =>
  Type.String({
    description: `${description} RFC 3339 with an offset.`,
    maxLength: 64,
    examples: ['2026-11-23T08:00:00Z'],
  })

export const availabilityBody = Type.Object({
  participants: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 320 }), {
      minItems: 1,
      maxItems: MAX_PARTICIPANTS,
      uniqueItems: true,
      description:
        'Email addresses, ids or customUserIds of accounts, and ids of calendars. Omitted: the account itself. Accounts are answered from their primary calendar and the selected calendars that they own; addresses without an account are looked up at the provider of this account.',
    }),
  ),
  startTime: time('Start of the first slot.'),
  endTime: time(`Where the last slot ends at the latest, at most ${MAX_DAYS} days after startTime.`),
  intervalMinutes: Type.Optional(
    Type.Number({
      minimum: 5,
      default: 30,
      description: `Length of a slot. Rounded to whole seconds. Slots times participants may be at most ${MAX_ENTRIES}.`,
    }),
  ),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'IANA name; returned unchanged. Omitted: that of the primary calendar.',
    }),
  ),
})
export type AvailabilityRequest = Static<typeof availabilityBody>

const reason = Type.Enum(['not_found', 'unavailable'], {
  description:
    'not_found: no such account, calendar or address. unavailable: the provider does not show its busy times, or did not respond.',
})

export const availabilitySchema = Type.Object(
  {
    slots: Type.Array(
      Type.Object({
        start: timestamp(),
        end: timestamp('Exclusive.'),
        participants: Type.Array(Type.String(), { description: 'Those that are available.' }),
        participantAvailability: Type.Record(Type.String(), Type.Enum(['available', 'busy', 'unknown']), {
          description: 'By participant, as named in the request.',
        }),
      }),
      { description: 'Every slot of the time range, in order, whether anybody is available or not.' },
    ),
    timeZone: Type.String({ description: 'IANA name, to show the slots in. Their times are UTC.' }),
    sources: Type.Array(
      Type.Object({
        participant: Type.String(),
        source: nullable(
          Type.Enum(['stored', 'provider'], { description: 'stored: from the last sync. Null when unknown.' }),
        ),
        syncedAt: nullable(timestamp('When the busy times were last known to be current.')),
        reason: nullable(reason),
      }),
      { description: 'Where the busy times of each participant come from, or why they are unknown.' },
    ),
  },
  { title: 'Availability' },
)
export type AvailabilityView = Static<typeof availabilitySchema>

/** The busy times of one participant, or the reason why they are unknown. */
export type Known =
  | { busy: TimeRange[]; source: 'stored' | 'provider'; syncedAt: number }
  | { reason: Static<typeof reason> }
