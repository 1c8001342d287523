import type { Feature } from '../../feature.ts'
import { bounceEvents } from './events.ts'
import { eraseBounces, purgeBounces } from './store.ts'

export const bouncesFeature = {
  name: 'bounces',
  tables: {
    pendingReports: { deletedBy: ['erase'] },
    bounces: { deletedBy: ['purge', 'erase'] },
  },
  events: bounceEvents,
  purge: [{ rows: 'bounces', purge: purgeBounces, keptFor: 'retentionTrackingDays' }],
  erase: [eraseBounces],
} as const satisfies Feature
