import type { Feature } from '../feature.ts'
import { skipEventNumbers } from './after-restore.ts'
import { eraseEvents, purgeEvents } from './erase.ts'

export const eventsFeature = {
  name: 'events',
  tables: {
    events: { deletedBy: ['purge', 'erase'] },
    eventSequences: { deletedBy: ['erase'] },
    eventPosition: { deletedBy: 'nothing: it has one row' },
  },
  purge: [{ rows: 'events', purge: purgeEvents, keptFor: 'retentionEventsDays' }],
  erase: [eraseEvents],
  afterRestore: skipEventNumbers,
} as const satisfies Feature
