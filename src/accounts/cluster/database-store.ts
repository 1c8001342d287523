import type { Db, Tx } from '../../platform/db/index.ts'
import { instanceStore } from './instance-store.ts'
import type { OwnershipStore } from './ownership-store.ts'

/** The store of ownership in the database: `instance-store.ts`, with a transaction around several writes only. */
export function databaseStore(db: Db): OwnershipStore {
  const reader = instanceStore(db.read, db.dialect)
  const statement = <T>(body: (store: ReturnType<typeof instanceStore>) => Promise<T>) =>
    db.statement((handle) => body(instanceStore(handle, db.dialect)))
  const write = <T>(body: (store: ReturnType<typeof instanceStore>) => Promise<T>) =>
    db.transaction((tx: Tx) => body(instanceStore(tx, db.dialect)))
  return {
    register: (id, lockKey) => statement((store) => store.register(id, lockKey)),
    beat: (id, state) => statement((store) => store.beat(id, state)),
    removeDead: (me, silentMs) => statement((store) => store.removeDead(me, silentMs)),
    removeWithoutLock: (ids) => statement((store) => store.removeWithoutLock(ids)),
    unregister: (id) => statement((store) => store.unregister(id)),
    instances: () => reader.instances(),
    hasUnowned: () => reader.hasUnowned(),
    countOwned: (ids) => reader.countOwned(ids),
    shares: (limit) => reader.shares(limit),
    take: (me, limit) => write((store) => store.take(me, limit)),
    claim: (me, accountId) => write((store) => store.claim(me, accountId)),
    giveBack: (me, limit) => write((store) => store.giveBack(me, limit)),
    mine: (me) => reader.mine(me),
    findMine: (me, accountIds) => reader.findMine(me, accountIds),
  }
}
