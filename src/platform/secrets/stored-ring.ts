import { join, resolve } from 'node:path'
import { parseKeyRing, type RingKey, SealError, type Sealer } from '../crypto/seal.ts'
import type { Db } from '../db/index.ts'
import { OperatorError } from '../errors/operator-error.ts'
import type { SealedColumn } from './sealed-columns.ts'
import { findSecret } from './secret-file.ts'

/** Name of a generated key ring in a shared database. */
export const RING_STATE = 'encryptionKeys'
/** Name of the sealed text that shows whether a key ring opens the data. */
export const CANARY_STATE = 'keyCanary'
export const CANARY_CONTEXT = 'canary'
/** Name of the sealed bytes from which the service derives its other keys. */
export const ROOT_STATE = 'signingRoot'
export const ROOT_CONTEXT = 'signing root'
const RING_FILE = 'encryption-keys'

export function ringFile(dataDir: string): string {
  return join(resolve(dataDir), RING_FILE)
}

/** The keys that a file store generated, as stored. */
export function storedRing(dataDir: string): string | undefined {
  return findSecret(ringFile(dataDir))
}

/** The keys of an installation: those from the settings, then generated ones. */
export function buildRing(configured: string | undefined, generated: string | undefined): RingKey[] {
  const parsed = (text: string | undefined) => (text === undefined ? [] : parseKeyRing(text))
  return joinedRing(parsed(configured), parsed(generated))
}

/** For equal ids the first ring wins. */
export function joinedRing(first: readonly RingKey[], second: readonly RingKey[]): RingKey[] {
  const ids = new Set(first.map((entry) => entry.id))
  return [...first, ...second.filter((entry) => !ids.has(entry.id))]
}

/** In the form of ENCRYPTION_KEYS. */
export function ringText(ring: readonly RingKey[]): string {
  return ring.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',')
}

/** Where the operator finds the key ring, for messages. */
export function ringLocation(configured: string | undefined, dataDir: string, engine: Db['engine']): string {
  if (configured !== undefined) return 'the setting ENCRYPTION_KEYS'
  return engine === 'sqlite' ? `the file ${ringFile(dataDir)}` : 'the table serviceState of the database'
}

/** Throws for the operator when the ring lacks the key of the canary, or of another state. Returns the text. */
export function requireOpens(sealedCanary: string, sealer: Sealer, context = CANARY_CONTEXT): string {
  try {
    return sealer.open(sealedCanary, context)
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause
    const keyId = sealedCanary.slice(0, sealedCanary.indexOf(':'))
    throw new OperatorError(
      `The encryption keys do not open the stored data. It was sealed with the key "${keyId}", which ENCRYPTION_KEYS (or the file encryption-keys in DATA_DIR) does not contain. Add that key again, after newer ones.`,
      { cause },
    )
  }
}

export const SEALED_STATES: SealedColumn = {
  table: 'serviceState',
  key: 'name',
  column: 'value',
  sealContext: (name) => (name === ROOT_STATE ? ROOT_CONTEXT : CANARY_CONTEXT),
  only: [CANARY_STATE, ROOT_STATE],
}
