import type { Feature } from '../../feature.ts'
import { backfillEvents } from './events.ts'
import { eraseBackfill } from './store.ts'

export const backfillFeature = {
  name: 'backfill',
  tables: {
    backfills: { deletedBy: ['erase'] },
    backfillFolders: { deletedBy: ['erase'] },
  },
  events: backfillEvents,
  erase: [eraseBackfill],
} as const satisfies Feature
