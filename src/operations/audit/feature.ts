import type { Feature } from '../../feature.ts'
import { purgeAuditEntries } from './store.ts'

export const auditFeature = {
  name: 'audit',
  tables: {
    auditEntries: { deletedBy: ['purge'] },
  },
  purge: [{ rows: 'auditEntries', purge: purgeAuditEntries, keptFor: 'retentionAuditDays' }],
} as const satisfies Feature
