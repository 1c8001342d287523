import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { generateKeyRing, parseKeyRing, type RingKey, type Sealer, sealer } from '../../lib/seal.ts'
import { type Db, findState, stateOr } from '../db/index.ts'
import type { Log, Redactor } from '../log/index.ts'
import { checkCanary } from './canary.ts'
import { findKept, keep } from './secret-file.ts'

export interface SecretsDeps {
  /** What the settings give. */
  given: {
    serviceApiKey: string | undefined
    adminPassword: string | undefined
    encryptionKeys: string | undefined
  }
  /** Migrated. */
  db: Db
  dataDir: string
  log: Log
  redactor: Pick<Redactor, 'hide'>
}

export interface Secrets {
  serviceApiKey: string
  /** Undefined: the portal is off. */
  adminPassword: string | undefined
  sealer: Sealer
  /** The key ring was made here and stands in the shared database, beside what it protects; health and portal warn. */
  keysBesideData: boolean
}

/** What a made key ring is called in the database, and the files in the data folder. */
const RING_STATE = 'encryptionKeys'
const FILES = { serviceApiKey: 'service-api-key', adminPassword: 'admin-password', encryptionKeys: 'encryption-keys' }

/**
 * Finds or makes the secrets, then checks that the key ring opens what is stored; throws a message for the operator when not.
 * A ring that was made earlier goes on opening beside one that is given later, so that setting ENCRYPTION_KEYS is
 * a rotation like any other.
 */
export async function openSecrets(deps: SecretsDeps): Promise<Secrets> {
  const secrets = deps.db.engine === 'sqlite' ? inFolder(deps) : await inDatabase(deps)
  const { serviceApiKey, adminPassword, ring, keysBesideData } = secrets
  for (const secret of [serviceApiKey, adminPassword, ...ring.map((entry) => entry.key.toString('base64'))]) {
    if (secret !== undefined) deps.redactor.hide(secret)
  }
  const seals = sealer(ring)
  await checkCanary(deps.db, seals, deps.log)
  return { serviceApiKey, adminPassword, sealer: seals, keysBesideData }
}

/** The API key that a service on this folder made for itself; undefined when it made none. */
export function keptApiKey(dataDir: string): string | undefined {
  return findKept(join(dataDir, FILES.serviceApiKey))
}

interface Found {
  serviceApiKey: string
  adminPassword: string | undefined
  ring: RingKey[]
  keysBesideData: boolean
}

function inFolder({ given, dataDir, log }: SecretsDeps): Found {
  const keptOrMade = (name: keyof typeof FILES, what: string, make: () => string) => {
    const file = join(resolve(dataDir), FILES[name])
    const kept = findKept(file)
    if (kept !== undefined) return kept
    const made = make()
    keep(file, made)
    log.info(`Made ${what}; it stands in ${file}.`, { operation: 'service.secrets', metadata: { file } })
    return made
  }
  const keptRing = () => findKept(join(resolve(dataDir), FILES.encryptionKeys))
  return {
    // The prefix says what it is to people and to scanners of leaked secrets.
    serviceApiKey: given.serviceApiKey ?? keptOrMade('serviceApiKey', 'an API key', () => `phk_${randomText(32)}`),
    adminPassword:
      given.adminPassword ?? keptOrMade('adminPassword', 'a password for the portal', () => randomText(18)),
    ring:
      given.encryptionKeys === undefined
        ? parseKeyRing(keptOrMade('encryptionKeys', 'the encryption keys', generateKeyRing))
        : joined(given.encryptionKeys, keptRing()),
    keysBesideData: false,
  }
}

async function inDatabase({ given, db, log }: SecretsDeps): Promise<Found> {
  if (given.serviceApiKey === undefined) {
    throw new Error('SERVICE_API_KEY is missing: with DATABASE_URL every instance must be given the same key.')
  }
  if (given.adminPassword === undefined) {
    log.info('ADMIN_PASSWORD is not set: the admin portal is off.', { operation: 'service.secrets' })
  }
  const keysBesideData = given.encryptionKeys === undefined
  if (keysBesideData) {
    log.warn('ENCRYPTION_KEYS is not set: the encryption keys stand in the database, beside what they protect.', {
      operation: 'service.secrets',
    })
  }
  return {
    serviceApiKey: given.serviceApiKey,
    adminPassword: given.adminPassword,
    ring:
      given.encryptionKeys === undefined
        ? parseKeyRing(await db.transaction((tx) => stateOr(tx, RING_STATE, generateKeyRing)))
        : joined(given.encryptionKeys, await findState(db.read, RING_STATE)),
    keysBesideData,
  }
}

/** The given keys, then those made earlier; a given key wins over a made one of the same id. */
function joined(given: string, made: string | undefined): RingKey[] {
  const ring = parseKeyRing(given)
  const known = new Set(ring.map((entry) => entry.id))
  return [...ring, ...(made === undefined ? [] : parseKeyRing(made).filter((entry) => !known.has(entry.id)))]
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}
