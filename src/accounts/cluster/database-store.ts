import type { Db, Tx } from '../../platform/db/index.ts'
import { instanceStore, instancesWithLocks } from './instance-store.ts'
import type { OwnershipStore } from './ownership-store.ts'

/** The store of ownership in the database: which statements of `instance-store.ts` form a transaction. */
export function databaseStore(db: Db): OwnershipStore {
  const reader = instanceStore(db.read, db.dialect)
  const write = <T>(body: (store: ReturnType<typeof instanceStore>) => Promise<T>) =>
    db.transaction((tx: Tx) => body(instanceStore(tx, db.dialect)))
  return {
    register: (id, lockKey) => write((store) => store.register(id, lockKey)),
    beat: (id, state) => write((store) => store.beat(id, state)),
    removeDead: (me, silentMs) => write((store) => store.removeDead(me, silentMs)),
    removeWithoutLock: (ids) => write((store) => store.removeWithoutLock(ids)),
    unregister: (id) => write((store) => store.unregister(id)),
    instances: () => instancesWithLocks(db.read),
    hasUnowned: () => reader.hasUnowned(),
    shares: () => reader.shares(),
    take: (me, limit) => write((store) => store.take(me, limit)),
    claim: (me, accountId) => write((store) => store.claim(me, accountId)),
    giveBack: (me, limit) => write((store) => store.giveBack(me, limit)),
    mine: (me) => reader.mine(me),
  }
}
