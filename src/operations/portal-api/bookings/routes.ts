import { sql } from 'kysely'
import type { Handle } from '../../../platform/db/index.ts'
import type { App } from '../../../platform/http/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { countsSchema } from './api.ts'

const WEEK_MS = 7 * 86_400_000
/** Counting stops here. */
const MAX_COUNT = 10_000

/** Beside the list of experiences. */
export function bookingCountRoutes(app: App, handle: Handle, clock: Clock): void {
  app.get(
    '/admin/booking-counts',
    { config: { access: 'key:read' }, schema: { hide: true, response: { 200: countsSchema } } },
    async () => {
      const nowMs = clock.now()
      const some = handle
        .selectFrom('bookings')
        .select('experienceSlug')
        .where('startMs', '>=', nowMs)
        .where('startMs', '<', nowMs + WEEK_MS)
        .where('status', 'in', ['pending', 'confirmed', 'rescheduled'])
        .limit(MAX_COUNT)
      const rows = await handle
        .selectFrom(some.as('some'))
        .select(['experienceSlug', sql<number | string>`count(*)`.as('count')])
        .groupBy('experienceSlug')
        .execute()
      const counts = Object.fromEntries(rows.map((row) => [row.experienceSlug, Number(row.count)]))
      return { counts, isCapped: Object.values(counts).reduce((sum, count) => sum + count, 0) === MAX_COUNT }
    },
  )
}
