import { join } from 'node:path'
import { memoryBus } from '../../src/infra/bus/index.ts'
import { openPostgres, openSqlite } from '../../src/infra/db/index.ts'
import { silentLog } from '../../src/infra/log/index.ts'
import { databaseQueue } from '../../src/infra/queue/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { idGenerator } from '../../src/lib/ids.ts'

/** A process that starts a job, prints its key and never finishes it. Arguments: see `crashWorker`. */
const [dataDir = '', databaseUrl = '', instanceId = '', queueName = '', leaseMs = ''] = process.argv.slice(2)

const db =
  databaseUrl === ''
    ? openSqlite({ file: join(dataDir, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement: () => {} })
    : openPostgres({ url: databaseUrl, maxConnections: 2, onError: console.error })
const queue = databaseQueue({
  db,
  bus: memoryBus({ log: silentLog }),
  clock: systemClock,
  ids: idGenerator(systemClock),
  log: silentLog,
  instanceId,
})
queue.work(queueName, { concurrency: 1, leaseMs: Number(leaseMs) }, (key) => {
  process.stdout.write(`running ${key}\n`)
  return new Promise(() => {})
})
