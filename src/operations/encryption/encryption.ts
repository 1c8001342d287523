import type { Sealer } from '../../platform/crypto/seal.ts'
import { DatabaseUnavailable, type Db } from '../../platform/db/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import type { Log } from '../../platform/log/index.ts'
import type { KeyRing, SealedColumn } from '../../platform/secrets/index.ts'
import { deleteKeys, readReportedKeys, reportKeys } from './instance-keys.ts'
import { type Resealed, resealer } from './reseal.ts'

interface EncryptionDeps {
  db: Db
  log: Log
  instanceId: string
  sealer: Sealer
  keyRing: KeyRing
  columns: readonly SealedColumn[]
  /** The ids of the running instances. */
  instances(): Promise<string[]>
  /** How often keys that other processes changed are read. */
  reloadMs?: number
}

interface KeyStatus {
  primaryKeyId: string
  keyIds: string[]
  isGenerated: boolean
  /** `keyIds` is empty until the instance has reported its keys. */
  instances: { id: string; keyIds: string[] }[]
}

export type Encryption = ReturnType<typeof encryption>

const RELOAD_MS = 5000

export function encryption(deps: EncryptionDeps) {
  const { db, log, instanceId, sealer, keyRing, columns, reloadMs = RELOAD_MS } = deps
  const reseal = resealer({ db, sealer, columns })
  let timer: NodeJS.Timeout | undefined
  let hasReported = false

  /** Reads the ring again and publishes for the other instances which keys this one knows. */
  async function refresh(): Promise<void> {
    if (await keyRing.reload()) {
      log.info(`The encryption keys have changed. New secrets are sealed with the key ${sealer.primaryKeyId}.`, {
        operation: 'encryption.reload',
      })
    }
    await reportKeys(db, instanceId, sealer.keyIds)
    hasReported = true
  }

  async function refreshOrWarn(): Promise<void> {
    await refresh().catch((error: unknown) => {
      log.warn('Cannot read the encryption keys again.', { operation: 'encryption.reload', error })
    })
  }

  async function status(): Promise<KeyStatus> {
    await refresh()
    const reported = await readReportedKeys(db.read)
    const instances = (await deps.instances()).map((id) => ({ id, keyIds: reported.get(id) ?? [] }))
    const { primaryKeyId } = sealer
    return { primaryKeyId, keyIds: [...sealer.keyIds], isGenerated: keyRing.isGenerated, instances }
  }

  /** Throws conflict unless every running instance has the key, in the first place if `isPrimary`. */
  async function requireEverywhere(keyId: string, isPrimary: boolean): Promise<void> {
    const { instances } = await status()
    const other = instances.find(({ keyIds }) => (isPrimary ? keyIds[0] !== keyId : !keyIds.includes(keyId)))
    if (other === undefined) return
    const lacks = other.keyIds.includes(keyId) ? `seals with ${other.keyIds[0]}` : 'does not know it'
    throw new AppError('conflict', {
      message: `Not every instance uses the key ${keyId}: ${other.id} ${lacks}. Give all instances the same keys, and restart those that read ENCRYPTION_KEYS.`,
    })
  }

  function requireGenerated(): void {
    if (keyRing.isGenerated) return
    throw new AppError('conflict', {
      message: 'The keys are set by ENCRYPTION_KEYS. Add the new key there, on every instance.',
    })
  }

  return {
    status,

    /** Adds a key to a generated ring. It opens everywhere within seconds, and seals after `promote`. */
    async add(): Promise<string> {
      requireGenerated()
      const id = await keyRing.add()
      await refresh()
      return id
    },

    /** Makes a key of a generated ring the one that seals; default: the last one added. Throws conflict until every instance knows it. */
    async promote(requestedId: string | undefined): Promise<string> {
      requireGenerated()
      await keyRing.reload()
      const keyId = requestedId ?? sealer.keyIds.at(-1) ?? sealer.primaryKeyId
      if (!sealer.keyIds.includes(keyId)) throw invalid('body.keyId', 'is not the id of a key')
      await requireEverywhere(keyId, false)
      await keyRing.promote(keyId)
      await refresh()
      return keyId
    },

    /** Seals the next rows again that are sealed with another key. Throws conflict until every instance seals with this one. */
    async reseal(after: string | undefined): Promise<Resealed> {
      await requireEverywhere(sealer.primaryKeyId, true)
      return reseal(after)
    },

    async start(): Promise<void> {
      await refreshOrWarn()
      timer = setInterval(() => void refreshOrWarn(), reloadMs)
    },

    async stop(): Promise<void> {
      clearInterval(timer)
      if (!hasReported) return
      // Retention deletes the row when this fails.
      await db
        .transaction((tx) => deleteKeys(tx, instanceId))
        .catch((error: unknown) => {
          if (error instanceof DatabaseUnavailable) return
          log.error('Cannot delete the key ids of this instance.', { operation: 'encryption.stop', error })
        })
    },
  }
}
