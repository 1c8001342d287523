/**
 * The service's own secrets, from the settings or generated once: stored as files of the data folder, or in a shared database for
 * the key ring. Every start checks that the key ring opens the stored data.
 */

export { fixedRing, type KeyRing } from './key-ring.ts'
export type { SealedColumn } from './sealed-columns.ts'
export { findSecret, writeSecret } from './secret-file.ts'
export { checkKeys, generatedApiKey, openSecrets, type Secrets, type SecretsDeps } from './secrets.ts'
export {
  buildRing,
  CANARY_STATE,
  joinedRing,
  RING_STATE,
  requireOpens,
  ringFile,
  ringLocation,
  ringText,
  SEALED_STATES,
  storedRing,
} from './stored-ring.ts'
