import type { Feature } from '../../feature.ts'
import { IDEMPOTENCY_KEY_KEPT_MS } from '../../platform/idempotency-key.ts'
import { eraseDraftRequests, purgeDraftLocks, purgeDraftRequests } from './store.ts'

/** Longer than the key with which a client repeats its request: that may still run when the key expires. */
const REQUESTS_KEPT_MS = 2 * IDEMPOTENCY_KEY_KEPT_MS
/** After the time for which a request holds a draft. The clocks of instances may differ. */
const LOCKS_KEPT_MS = 60 * 60 * 1000

export const draftsFeature = {
  name: 'drafts',
  tables: {
    draftCreations: { deletedBy: ['purge', 'erase'] },
    draftLocks: { deletedBy: ['purge', 'erase'] },
  },
  purge: [
    { rows: 'draftRequests', purge: purgeDraftRequests, keptFor: REQUESTS_KEPT_MS },
    { rows: 'draftLocks', purge: purgeDraftLocks, keptFor: LOCKS_KEPT_MS },
  ],
  erase: [eraseDraftRequests],
} as const satisfies Feature
