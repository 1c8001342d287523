import type { Feature } from '../../feature.ts'
import { forgetIndex } from './after-restore.ts'

export const searchFeature = {
  name: 'search',
  tables: {
    messageTerms: { deletedBy: 'the indexer, which follows the messages', isInBackup: false },
  },
  afterRestore: forgetIndex,
} as const satisfies Feature
