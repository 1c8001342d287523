import type { Feature } from '../../feature.ts'
import { compileMessageWriters } from './api.ts'
import { draftEvents, messageEvents } from './events.ts'
import { eraseReserved, purgeReserved } from './ingest/reserved.ts'
import { eraseMessages } from './rows/erasure.ts'
import { eraseHorizons } from './rows/horizons.ts'
import { eraseThreadReferences } from './threads/references.ts'

/** A sent message appears in the mailbox within minutes; a paused account may be away for long. */
const RESERVATIONS_KEPT_MS = 90 * 24 * 60 * 60 * 1000

export const messagesFeature = {
  name: 'messages',
  tables: {
    messages: { deletedBy: ['erase'] },
    messageBodies: { deletedBy: ['erase'] },
    messageLabels: { deletedBy: ['erase'] },
    messageCounters: { deletedBy: ['erase'] },
    messageTexts: { deletedBy: ['erase'] },
    threadLabels: { deletedBy: ['erase'] },
    threadReferences: { deletedBy: ['erase'] },
    threadMerges: { deletedBy: ['erase'] },
    mailHorizons: { deletedBy: ['erase'] },
    reservedMessages: { deletedBy: ['purge', 'erase'] },
    drafts: { deletedBy: ['erase'] },
    unindexedMessages: {
      deletedBy: 'the search index, when it has followed the change',
      outlivesAccount: 'It names messages that the search index still has to remove.',
      isInBackup: false,
    },
  },
  events: { ...messageEvents, ...draftEvents },
  purge: [{ rows: 'reservations', purge: purgeReserved, keptFor: RESERVATIONS_KEPT_MS }],
  erase: [eraseMessages, eraseThreadReferences, eraseHorizons, eraseReserved],
  warmUp: [compileMessageWriters],
} as const satisfies Feature
