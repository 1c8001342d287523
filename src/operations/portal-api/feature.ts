import type { Feature } from '../../feature.ts'
import { purgeActivity } from './activity/store.ts'
import { purgeAdminSessions, SESSION_MS } from './sessions/index.ts'

const ACTIVITY_MS = 35 * 24 * 3_600_000

export const portalFeature = {
  name: 'portal',
  tables: {
    adminSessions: { deletedBy: ['purge'], isInBackup: false },
    activityCounts: { deletedBy: ['purge'] },
  },
  purge: [
    { rows: 'portalSessions', purge: purgeAdminSessions, keptFor: SESSION_MS },
    { rows: 'activityCounts', purge: purgeActivity, keptFor: ACTIVITY_MS },
  ],
} as const satisfies Feature
