import type { Feature } from '../../feature.ts'
import { releaseOutbox } from './after-restore.ts'
import { outboxEvents } from './events.ts'
import { eraseOutbox, purgeOutbox } from './store.ts'

/** For messages that are finished. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

export const outboxFeature = {
  name: 'outbox',
  tables: {
    outbox: { deletedBy: ['purge', 'erase'] },
    outboxParts: { deletedBy: ['purge', 'erase'] },
    outboxServers: { deletedBy: ['erase'] },
    outboxKeepers: { deletedBy: ['erase'] },
  },
  events: outboxEvents,
  purge: [{ rows: 'outbox', purge: purgeOutbox, keptFor: KEPT_MS }],
  erase: [eraseOutbox],
  afterRestore: releaseOutbox,
} as const satisfies Feature
