import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { parseApiKeys } from '../crypto/api-keys.ts'
import { generateKeyRing, keyIdOf, parseKeyRing, type RingKey, type Sealer, sealer } from '../crypto/seal.ts'
import { type Db, findState, setState, stateOr } from '../db/index.ts'
import { OperatorError } from '../errors/operator-error.ts'
import type { Log, Redactor } from '../log/index.ts'
import { type KeyRing, keyRing } from './key-ring.ts'
import { findSecret, writeSecret } from './secret-file.ts'
import {
  buildRing,
  CANARY_CONTEXT,
  CANARY_STATE,
  RING_STATE,
  ROOT_CONTEXT,
  ROOT_STATE,
  requireOpens,
  ringFile,
  storedRing,
} from './stored-ring.ts'

export interface SecretsDeps {
  /** The values from the settings. */
  configured: {
    serviceApiKey: string | undefined
    adminPassword: string | undefined
    encryptionKeys: string | undefined
  }
  /** Must be migrated. */
  db: Db
  dataDir: string
  log: Log
  redactor: Pick<Redactor, 'hide'>
}

export interface Secrets {
  /** One key, or two: see `parseApiKeys`. */
  serviceApiKey: string
  /** Undefined: the portal is disabled. */
  adminPassword: string | undefined
  sealer: Sealer
  keyRing: KeyRing
  /** True when the shared database holds a generated key ring together with the data it protects. Health and portal warn. */
  keysBesideData: boolean
}

/** The secret files in the data folder. */
const FILES = { serviceApiKey: 'service-api-key', adminPassword: 'admin-password', encryptionKeys: 'encryption-keys' }

/**
 * Finds or generates the secrets, then checks that the key ring opens the stored data. Throws a message for the operator when it
 * does not. A generated ring keeps opening data after ENCRYPTION_KEYS is set, so setting it is an ordinary rotation.
 */
export async function openSecrets(deps: SecretsDeps): Promise<Secrets> {
  const secrets = deps.db.engine === 'sqlite' ? inFolder(deps) : await inDatabase(deps)
  const { serviceApiKey, adminPassword, ring, keysBesideData } = secrets
  for (const secret of [
    ...parseApiKeys(serviceApiKey),
    adminPassword,
    ...ring.map((entry) => entry.key.toString('base64')),
  ]) {
    if (secret !== undefined) deps.redactor.hide(secret)
  }
  const opener = sealer(ring)
  const root = await signingRoot(deps.db, opener, ring)
  await checkCanary(deps.db, opener, deps.log)
  const rotating = sealer(ring, root)
  const { configured, db, dataDir, redactor } = deps
  const keys = keyRing({ configured: configured.encryptionKeys, db, dataDir, redactor }, rotating)
  return { serviceApiKey, adminPassword, sealer: rotating, keyRing: keys, keysBesideData }
}

/** Whether the configured keys open the stored data. Generates and stores nothing. */
export async function checkKeys({
  configured,
  db,
  dataDir,
}: Pick<SecretsDeps, 'configured' | 'db' | 'dataDir'>): Promise<
  { state: 'opens' } | { state: 'unused' } | { state: 'wrong'; message: string }
> {
  const sealed = await findState(db.read, CANARY_STATE)
  if (sealed === undefined) return { state: 'unused' }
  const generated = db.engine === 'sqlite' ? storedRing(dataDir) : await findState(db.read, RING_STATE)
  const ring = buildRing(configured.encryptionKeys, generated)
  if (ring.length === 0) {
    return { state: 'wrong', message: `There are no encryption keys: ${ringFile(dataDir)} is missing.` }
  }
  try {
    requireOpens(sealed, sealer(ring))
    return { state: 'opens' }
  } catch (error) {
    return { state: 'wrong', message: error instanceof Error ? error.message : String(error) }
  }
}

/** The API key that a service generated in this data folder; undefined without one. */
export function generatedApiKey(dataDir: string): string | undefined {
  return findSecret(join(dataDir, FILES.serviceApiKey))
}

interface Found {
  serviceApiKey: string
  adminPassword: string | undefined
  ring: RingKey[]
  keysBesideData: boolean
}

function inFolder({ configured, dataDir, log }: SecretsDeps): Found {
  const findOrGenerate = (name: keyof typeof FILES, what: string, generate: () => string) => {
    const file = join(resolve(dataDir), FILES[name])
    const found = findSecret(file)
    if (found !== undefined) return found
    const secret = generate()
    writeSecret(file, secret)
    log.info(`Generated ${what} in ${file}.`, { operation: 'service.secrets', metadata: { file } })
    return secret
  }
  return {
    // The prefix identifies the key to people and to scanners for leaked secrets.
    serviceApiKey:
      configured.serviceApiKey ?? findOrGenerate('serviceApiKey', 'an API key', () => `phk_${randomText(32)}`),
    adminPassword:
      configured.adminPassword ?? findOrGenerate('adminPassword', 'a password for the portal', () => randomText(18)),
    ring:
      configured.encryptionKeys === undefined
        ? parseKeyRing(findOrGenerate('encryptionKeys', 'the encryption keys', generateKeyRing))
        : buildRing(configured.encryptionKeys, storedRing(dataDir)),
    keysBesideData: false,
  }
}

async function inDatabase({ configured, db, log }: SecretsDeps): Promise<Found> {
  if (configured.serviceApiKey === undefined) {
    throw new OperatorError('SERVICE_API_KEY is missing. With DATABASE_URL, give every instance the same key.')
  }
  if (configured.adminPassword === undefined) {
    log.info('The admin portal is disabled because ADMIN_PASSWORD is not set.', { operation: 'service.secrets' })
  }
  const keysBesideData = configured.encryptionKeys === undefined
  if (keysBesideData) {
    log.warn(
      'ENCRYPTION_KEYS is not set: the database holds the encryption keys together with the data that they protect. Set ENCRYPTION_KEYS.',
      {
        operation: 'service.secrets',
      },
    )
  }
  return {
    serviceApiKey: configured.serviceApiKey,
    adminPassword: configured.adminPassword,
    ring:
      configured.encryptionKeys === undefined
        ? parseKeyRing(await db.transaction((tx) => stateOr(tx, RING_STATE, generateKeyRing)))
        : buildRing(configured.encryptionKeys, await findState(db.read, RING_STATE)),
    keysBesideData,
  }
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

/**
 * The bytes from which other keys are derived, such as that of the links in messages to guests. They stay when the keys rotate. An
 * installation from before they were stored keeps the key from which it has derived so far.
 */
async function signingRoot(db: Db, opener: Sealer, ring: readonly RingKey[]): Promise<Buffer> {
  return db.transaction(async (tx) => {
    const canary = await findState(tx, CANARY_STATE)
    if (canary !== undefined) requireOpens(canary, opener)
    const derivedFrom = canary === undefined ? undefined : ring.find(({ id }) => id === keyIdOf(canary))?.key
    const seal = (root: string) => opener.seal(root, ROOT_CONTEXT)
    const sealed = await stateOr(tx, ROOT_STATE, () => seal((derivedFrom ?? randomBytes(32)).toString('base64')))
    const root = requireOpens(sealed, opener, ROOT_CONTEXT)
    if (keyIdOf(sealed) !== opener.primaryKeyId) await setState(tx, ROOT_STATE, seal(root))
    return Buffer.from(root, 'base64')
  })
}

const TEXT = 'posthorn'

/**
 * Opens a sealed text in the database, so that a wrong key ring stops the start and not the first mailbox. The text is sealed again
 * with a new primary key, so an instance without that key stops too.
 */
async function checkCanary(db: Db, sealer: Sealer, log: Log): Promise<void> {
  await db.transaction(async (tx) => {
    const sealed = await stateOr(tx, CANARY_STATE, () => sealer.seal(TEXT, CANARY_CONTEXT))
    requireOpens(sealed, sealer)
    if (sealed.startsWith(`${sealer.primaryKeyId}:`)) return
    await setState(tx, CANARY_STATE, sealer.seal(TEXT, CANARY_CONTEXT))
    tx.afterCommit(() =>
      log.info(
        `New secrets are sealed with the key ${sealer.primaryKeyId}. Run posthorn rotate-encryption before you remove an older key from ENCRYPTION_KEYS.`,
        { operation: 'service.secrets' },
      ),
    )
  })
}
