import type { Feature } from '../../feature.ts'
import { eraseDraftRequests, purgeDraftLocks, purgeDraftRequests } from './store.ts'

/** Longer than an Idempotency-Key is kept, with which a client repeats its request. */
const REQUESTS_KEPT_MS = 2 * 24 * 60 * 60 * 1000
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
