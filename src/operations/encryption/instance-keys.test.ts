import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { compose } from '../../../test/kit/service/composition.ts'
import { memoryLog } from '../../../test/kit/service/memory-log.ts'
import type { Db } from '../../platform/db/index.ts'
import type { LogEntry } from '../../platform/log/index.ts'
import { encryptionFeature } from './feature.ts'

/** As retention does, with one row in each transaction. */
async function purge(db: Db): Promise<void> {
  for (const rule of encryptionFeature.purge) {
    for (let rows = -1; rows !== 0; ) rows = await db.transaction((tx) => rule.purge(tx, Date.now() - rule.keptFor, 1))
  }
}

async function readInstances(db: Db): Promise<string[]> {
  const rows = await db.read.selectFrom('instanceKeys').select('instanceId').orderBy('instanceId').execute()
  return rows.map(({ instanceId }) => instanceId)
}

describeEachDatabase('the keys that instances have reported', (open) => {
  it('are deleted once the instance no longer exists', async () => {
    const db = await open()
    const { encryption, ownership } = closing(compose(db, { instanceId: 'ins_living' })).features
    await ownership.start()
    await encryption.status()
    const crashed = ['ins_crashed1', 'ins_crashed2'].map((instanceId) => ({ instanceId, keyIds: 'k1' }))
    await db.transaction((tx) => tx.insertInto('instanceKeys').values(crashed).execute())
    expect(await readInstances(db)).toEqual(['ins_crashed1', 'ins_crashed2', 'ins_living'])
    await purge(db)
    expect(await readInstances(db)).toEqual(['ins_living'])
  })

  it('are reported again by an instance that was only taken for dead', async () => {
    const db = await open()
    const { encryption, ownership } = closing(compose(db, { instanceId: 'ins_suspended' })).features
    await encryption.status()
    await purge(db)
    expect(await readInstances(db)).toEqual([])
    await ownership.start()
    expect((await encryption.status()).instances).toEqual([{ id: 'ins_suspended', keyIds: ['k1'] }])
  })

  it('are deleted when the instance stops', async () => {
    const db = await open()
    const { encryption } = closing(compose(db, { instanceId: 'ins_stops' })).features
    await encryption.start()
    expect(await readInstances(db)).toEqual(['ins_stops'])
    await encryption.stop()
    expect(await readInstances(db)).toEqual([])
  })

  it('do not hold up a stop: a fault is logged, an outage of the database is not', async () => {
    const db = await open()
    const { log, entries } = memoryLog()
    const { encryption } = closing(compose(db, { instanceId: 'ins_stops', log })).features
    await encryption.start()
    await db.transaction((tx) => tx.schema.dropTable('instanceKeys').execute())
    await encryption.stop()
    const isOfStop = ({ operation }: LogEntry) => operation === 'encryption.stop'
    expect(entries.filter(isOfStop)).toMatchObject([
      { level: 'error', error: { message: expect.stringContaining('instanceKeys') } },
    ])
    await db.close()
    await encryption.stop()
    expect(entries.filter(isOfStop)).toHaveLength(1)
  })
})
