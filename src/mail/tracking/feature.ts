import type { Feature } from '../../feature.ts'
import { trackingEvents } from './events.ts'
import { eraseTracking, purgeTracking } from './store.ts'

export const trackingFeature = {
  name: 'tracking',
  tables: {
    trackings: { deletedBy: ['purge', 'erase'] },
    trackingLinks: { deletedBy: ['purge', 'erase'] },
    trackingEvents: { deletedBy: ['purge', 'erase'] },
  },
  events: trackingEvents,
  purge: [{ rows: 'tracking', purge: purgeTracking, keptFor: 'retentionTrackingDays' }],
  erase: [eraseTracking],
} as const satisfies Feature
