import type { Feature } from '../../feature.ts'
import { folderEvents } from './events.ts'
import { eraseLabels } from './store.ts'

export const labelsFeature = {
  name: 'labels',
  tables: {
    labels: { deletedBy: ['erase'] },
  },
  events: folderEvents,
  erase: [eraseLabels],
} as const satisfies Feature
