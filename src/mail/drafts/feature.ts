import type { Feature } from '../../feature.ts'
import { eraseDraftRequests, purgeDraftRequests } from './store.ts'

/** Longer than an Idempotency-Key is kept, with which a client repeats its request. */
const REQUESTS_KEPT_MS = 2 * 24 * 60 * 60 * 1000

export const draftsFeature = {
  name: 'drafts',
  tables: {
    draftCreations: { deletedBy: ['purge', 'erase'] },
    draftLocks: { deletedBy: ['erase'] },
  },
  purge: [{ rows: 'draftRequests', purge: purgeDraftRequests, keptFor: REQUESTS_KEPT_MS }],
  erase: [eraseDraftRequests],
} as const satisfies Feature
