import { SEALED_CONSENTS } from '../accounts/auth/index.ts'
import { SEALED_ACCOUNTS, SEALED_REVOCATIONS } from '../accounts/index.ts'
import { SEALED_EXPERIENCES } from '../booking/index.ts'
import { SEALED_ENDPOINTS } from '../events/webhooks/index.ts'
import { SEALED_RESPONSES } from '../operations/idempotency/index.ts'
import { SEALED_STATES, type SealedColumn } from '../platform/secrets/index.ts'

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
