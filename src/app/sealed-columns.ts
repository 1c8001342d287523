import { SEALED_ACCOUNTS, SEALED_REVOCATIONS } from '../features/accounts/index.ts'
import { SEALED_CONSENTS } from '../features/auth/index.ts'
import { SEALED_RESPONSES } from '../features/idempotency/index.ts'
import { SEALED_EXPERIENCES } from '../features/scheduler/index.ts'
import { SEALED_ENDPOINTS } from '../features/webhooks/index.ts'
import { SEALED_STATES, type SealedColumn } from '../infra/secrets/index.ts'

/** Every column with secrets. The most valuable ones come first. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  SEALED_ACCOUNTS,
  SEALED_REVOCATIONS,
  ...SEALED_ENDPOINTS,
  SEALED_EXPERIENCES,
  SEALED_CONSENTS,
  SEALED_RESPONSES,
  SEALED_STATES,
]
