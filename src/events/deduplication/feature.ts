import type { Feature } from '../../feature.ts'
import { purgeDeduplicationClaims } from './database-claims.ts'

/** A late fan-out still needs the claims made at the time of its events. */
const CLAIMS_KEPT_MS = 60 * 60 * 1000

export const deduplicationFeature = {
  name: 'deduplication',
  tables: {
    deduplicationConfig: { deletedBy: 'nothing: it has one row' },
    deduplicationClaims: { deletedBy: ['purge'] },
  },
  purge: [{ rows: 'deduplicationClaims', purge: purgeDeduplicationClaims, keptFor: CLAIMS_KEPT_MS }],
} as const satisfies Feature
