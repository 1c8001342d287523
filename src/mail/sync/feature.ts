import type { Feature } from '../../feature.ts'
import { eraseSync } from './store.ts'

export const syncFeature = {
  name: 'sync',
  tables: {
    syncCursors: { deletedBy: ['erase'] },
    syncStates: { deletedBy: ['erase'] },
    unreadableItems: { deletedBy: ['erase'] },
  },
  erase: [eraseSync],
} as const satisfies Feature
