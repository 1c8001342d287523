import { type Static, Type } from 'typebox'

const trackingResult = Type.Object(
  {
    id: Type.String({ description: 'For `GET /messages/tracking/{id}`.' }),
    token: Type.String({ description: 'Part of the addresses of the pixel and the links.' }),
    pixelUrl: Type.String({ description: 'A 1×1 image; loading it counts as an open.' }),
    snippet: Type.String({ description: 'The HTML of the pixel, for a body that you track yourself.' }),
    headers: Type.Record(Type.String(), Type.String(), { description: 'Header fields of a tracked message.' }),
    domain: Type.String({ description: 'The host of the pixel and the links.' }),
  },
  { title: 'TrackingResult' },
)
/** What sending and saving a message return of its tracking. */
export type TrackingResult = Static<typeof trackingResult>

/** What sending a message and saving a draft return. */
export const sendResultFields = {
  success: Type.Boolean(),
  result: Type.Object({
    success: Type.Boolean(),
    messageId: Type.String({ description: 'The id that the message has, or will have in Sent.' }),
    tracking: trackingResult,
  }),
}
