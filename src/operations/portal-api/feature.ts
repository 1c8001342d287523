import type { Feature } from '../../feature.ts'
import { purgeAdminSessions, SESSION_MS } from './sessions/index.ts'

export const portalFeature = {
  name: 'portal',
  tables: {
    adminSessions: { deletedBy: ['purge'], isInBackup: false },
  },
  purge: [{ rows: 'portalSessions', purge: purgeAdminSessions, keptFor: SESSION_MS }],
} as const satisfies Feature
