/**
 * Rotating the encryption keys while the service runs: which keys every instance knows, new keys of a generated ring, and sealing
 * stored secrets again. The command `rotate-encryption` decides what comes next; every step here may be repeated.
 */
import type {} from './tables.ts'

export { type Encryption, encryption } from './encryption.ts'
export { encryptionFeature } from './feature.ts'
export { encryptionRoutes } from './routes.ts'
