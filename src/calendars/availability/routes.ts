import * as Type from 'typebox'
import { type App, type Idempotency, wantsFresh } from '../../platform/http/index.ts'
import { availabilityBody, availabilitySchema } from './api.ts'
import type { Availability } from './service.ts'

interface AvailabilityRoutesDeps {
  availability: Availability
  idempotency: Idempotency
}

export function availabilityRoutes(app: App, { availability, idempotency }: AvailabilityRoutesDeps): void {
  app.post(
    '/accounts/:accountId/availability',
    {
      config: { access: 'key:read' },
      schema: {
        tags: ['Calendars'],
        operationId: 'findAvailability',
        errors: [502, 504],
        summary: 'Find when people are available',
        description:
          'Divides a time range into slots and says who is available in each. Confirmed and tentative events block, also invitations without an answer; cancelled, transparent and declined ones do not. Changes nothing.',
        params: Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) }),
        body: availabilityBody,
        response: { 200: availabilitySchema },
      },
    },
    idempotency.writing(async ({ params, body, headers }) => {
      const isFresh = wantsFresh(headers)
      const found = await availability.find(params.accountId, body, isFresh)
      return async () => found
    }),
  )
}
