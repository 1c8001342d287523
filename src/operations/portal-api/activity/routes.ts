import type { Handle } from '../../../platform/db/index.ts'
import { invalid } from '../../../platform/errors/app-error.ts'
import type { App } from '../../../platform/http/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { activityQuery, activitySchema } from './api.ts'
import type { ActivityCounter } from './counter.ts'
import { readActivity } from './read.ts'

export interface ActivityDeps {
  activity: Pick<ActivityCounter, 'flush'>
}

/** How much happened in each period. The portal names the periods, because its days are those of the viewer's time zone. */
export function activityRoutes(app: App, handle: Handle, clock: Clock, { activity }: ActivityDeps): void {
  app.get(
    '/admin/activity',
    {
      config: { access: 'key:read' },
      schema: { hide: true, querystring: activityQuery, response: { 200: activitySchema } },
    },
    async ({ query }) => {
      const starts = query.starts.split(',').map(Number)
      if (starts.some((start, index) => start <= (starts[index - 1] ?? 0))) {
        throw invalid('query.starts', 'must be in ascending order')
      }
      await activity.flush()
      return readActivity(handle, starts, clock.now())
    },
  )
}
