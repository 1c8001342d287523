import type { Static } from 'typebox'
import * as Type from 'typebox'

export const countsSchema = Type.Object(
  {
    counts: Type.Record(Type.String(), Type.Integer(), {
      description: 'Meetings of the next 7 days that take place, by the slug of their experience.',
    }),
    isCapped: Type.Boolean({ description: 'True: there are more than were counted.' }),
  },
  { title: 'BookingCounts' },
)
export type BookingCounts = Static<typeof countsSchema>
