import { SealError, type Sealer } from '../../lib/seal.ts'
import { type Db, setState, stateOr } from '../db/index.ts'
import type { Log } from '../log/index.ts'

const NAME = 'keyCanary'
const CONTEXT = 'canary'
const TEXT = 'posthorn'

/**
 * A sealed text in the database that every start opens: a wrong key ring is told at once, not by the first mailbox that
 * fails. It is sealed again under a new primary key, so an instance that does not know that key stops too.
 */
export async function checkCanary(db: Db, sealer: Sealer, log: Log): Promise<void> {
  await db.transaction(async (tx) => {
    const sealed = await stateOr(tx, NAME, () => sealer.seal(TEXT, CONTEXT))
    demandOpens(sealed, sealer)
    if (sealed.startsWith(`${sealer.primaryKeyId}:`)) return
    await setState(tx, NAME, sealer.seal(TEXT, CONTEXT))
    tx.afterCommit(() =>
      log.info(
        `From now on the key ${sealer.primaryKeyId} seals. Keep the older keys in ENCRYPTION_KEYS: what they sealed is sealed anew when it is next written.`,
        { operation: 'service.secrets' },
      ),
    )
  })
}

function demandOpens(sealed: string, sealer: Sealer): void {
  try {
    sealer.open(sealed, CONTEXT)
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause
    const keyId = sealed.slice(0, sealed.indexOf(':'))
    throw new Error(
      `The encryption keys do not open what is stored: it was sealed with the key "${keyId}", and ENCRYPTION_KEYS (or the file encryption-keys of DATA_DIR) does not hold that key. Put it back, behind newer ones.`,
      { cause },
    )
  }
}
