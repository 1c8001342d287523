import type { Config } from '../../config/index.ts'
import { parseKeyRing, type RingKey, sealer } from '../../platform/crypto/seal.ts'
import { buildRing, joinedRing, requireOpens, ringText } from '../../platform/secrets/index.ts'
import type { CheckedArchive } from './restore.ts'
import type { RestoreTarget } from './target.ts'

/**
 * The keys of the archive that this installation lacks, as a ring; undefined without any. Throws when the secrets of the archive
 * could not be opened afterwards.
 */
export async function keysToAdd(
  config: Config,
  target: RestoreTarget,
  { header, canary }: CheckedArchive,
): Promise<string | undefined> {
  const own = await buildRing(config.encryptionKeys, await target.generatedRing())
  const brought = header.keyRing === null ? [] : parseKeyRing(header.keyRing)
  for (const key of brought) requireSame(own, key)
  const all = joinedRing(own, brought)
  if (canary !== undefined) {
    if (all.length === 0) throw new Error(`This installation has no encryption keys. ${REMEDY}`)
    try {
      requireOpens(canary, sealer(all))
    } catch (cause) {
      const id = canary.slice(0, canary.indexOf(':'))
      throw new Error(`The secrets of the backup are sealed with the key "${id}", which is missing. ${REMEDY}`, {
        cause,
      })
    }
  }
  const missing = all.slice(own.length)
  return missing.length === 0 ? undefined : ringText(missing)
}

const REMEDY =
  'Set ENCRYPTION_KEYS to the key ring of the installation that made the backup, or copy its file encryption-keys into DATA_DIR.'

function requireSame(ring: readonly RingKey[], { id, key }: RingKey): void {
  const same = ring.find((own) => own.id === id)
  if (same === undefined || same.key.equals(key)) return
  throw new Error(
    `The key "${id}" of the backup differs from the one of this installation. Give one of them another id.`,
  )
}
