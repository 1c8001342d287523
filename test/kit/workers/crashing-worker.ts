import { memoryBus } from '../../../src/platform/bus/index.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import { databaseQueue } from '../../../src/platform/queue/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import { openDatabase } from '../database/open-database.ts'

/** A process that starts a job, prints its key and never finishes it. Arguments: see `crashWorker`. */
const [dataDir = '', databaseUrl = '', instanceId = '', queueName = '', leaseMs = ''] = process.argv.slice(2)

const db = openDatabase({ dataDir, databaseUrl })
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
