import type { Feature } from '../../feature.ts'
import { forgetRunning } from './after-restore.ts'
import { purgeIdempotencyKeys } from './store.ts'
import { SEALED_RESPONSES } from './stored-responses.ts'

export const idempotencyFeature = {
  name: 'idempotency',
  tables: {
    idempotencyKeys: { deletedBy: ['purge'] },
  },
  // The rows say until when they are kept: see `stored-responses.ts`.
  purge: [{ rows: 'idempotencyKeys', purge: purgeIdempotencyKeys, keptFor: 0 }],
  sealedColumns: [SEALED_RESPONSES],
  afterRestore: forgetRunning,
} as const satisfies Feature
