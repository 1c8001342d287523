import type { Feature } from '../feature.ts'
import { SEALED_STATES } from '../platform/secrets/index.ts'

/** The tables that the modules of `src/platform` write, which are below features. */
export const platformFeature = {
  name: 'platform',
  tables: {
    migrations: { deletedBy: 'nothing: each migration has one row', isInBackup: false },
    serviceState: { deletedBy: 'the feature that named the value' },
    jobs: { deletedBy: 'the worker, when nothing is left to do', isInBackup: false },
  },
  sealedColumns: [SEALED_STATES],
} as const satisfies Feature
