import type { Feature } from '../../feature.ts'
import { forgetRunning } from './after-restore.ts'
import { SEALED_RESPONSES } from './keys.ts'
import { purgeIdempotencyKeys } from './store.ts'

export const idempotencyFeature = {
  name: 'idempotency',
  tables: {
    idempotencyKeys: { deletedBy: ['purge'] },
  },
  // The rows say until when they are kept: see `keys.ts`.
  purge: [{ rows: 'idempotencyKeys', purge: purgeIdempotencyKeys, keptFor: 0 }],
  sealedColumns: [SEALED_RESPONSES],
  afterRestore: forgetRunning,
} as const satisfies Feature
