import { generateKeyRing, parseKeyRing, type RingKey, type RotatingSealer } from '../crypto/seal.ts'
import { type Db, findState, type Handle, setState } from '../db/index.ts'
import type { Redactor } from '../log/index.ts'
import { writeSecret } from './secret-file.ts'
import { buildRing, RING_STATE, ringFile, ringText, storedRing } from './stored-ring.ts'

/** The keys of the running service: those of ENCRYPTION_KEYS, which only the operator changes, and generated ones. */
export interface KeyRing {
  /** False with ENCRYPTION_KEYS. */
  readonly isGenerated: boolean
  /** Makes the sealer use what another process, or the operator, has changed. Returns whether something had changed. */
  reload(): Promise<boolean>
  /** Adds a key that opens and does not seal yet, and returns its id. Only for a generated ring. */
  add(): Promise<string>
  /** Makes a known key seal. Only for a generated ring. */
  promote(keyId: string): Promise<void>
}

interface KeyRingDeps {
  configured: string | undefined
  db: Db
  dataDir: string
  redactor: Pick<Redactor, 'hide'>
}

export function keyRing({ configured, db, dataDir, redactor }: KeyRingDeps, sealer: RotatingSealer): KeyRing {
  const isFile = db.engine === 'sqlite'
  const read = async (handle: Handle) => (isFile ? storedRing(dataDir) : findState(handle, RING_STATE))
  let loadedIds = joinIds(sealer.keyIds)

  async function reload(): Promise<boolean> {
    const ring = buildRing(configured, await read(db.read))
    if (ring.length === 0 || joinIds(ring.map(({ id }) => id)) === loadedIds) return false
    for (const { key } of ring) redactor.hide(key.toString('base64'))
    sealer.replaceRing(ring)
    loadedIds = joinIds(sealer.keyIds)
    return true
  }

  async function change(edit: (ring: RingKey[]) => RingKey[]): Promise<void> {
    if (isFile) {
      // One process writes it, and nothing is awaited in between.
      writeSecret(ringFile(dataDir), ringText(edit(buildRing(undefined, storedRing(dataDir)))))
    } else {
      await db.transaction(async (tx) => {
        const row = tx.selectFrom('serviceState').select('value').where('name', '=', RING_STATE)
        const stored = (await row.modifyEnd(db.dialect.forUpdate).executeTakeFirst())?.value
        await setState(tx, RING_STATE, ringText(edit(buildRing(undefined, stored))))
      })
    }
    await reload()
  }

  return {
    isGenerated: configured === undefined,
    reload,

    async add() {
      const added = parseKeyRing(generateKeyRing())
      await change((ring) => [...ring, ...added])
      return added[0]?.id ?? ''
    },

    promote: (keyId) =>
      change((ring) => [...ring.filter(({ id }) => id === keyId), ...ring.filter(({ id }) => id !== keyId)]),
  }
}

const joinIds = (keyIds: readonly string[]) => keyIds.join(',')

/** The keys of ENCRYPTION_KEYS alone. */
export const fixedRing: KeyRing = {
  isGenerated: false,
  reload: async () => false,
  add: async () => '',
  promote: async () => {},
}
