import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { type Databases, describeEachDatabase, type Place } from '../../../test/kit/database.ts'
import { systemClock } from '../../lib/clock.ts'
import { idGenerator } from '../../lib/ids.ts'
import { memoryBus, openPostgresBus } from '../bus/index.ts'
import { silentLog } from '../log/index.ts'
import { describeQueue, type QueueWorld } from './conformance.ts'
import { databaseQueue } from './database.ts'

describeEachDatabase('the queue on job rows', (open) => describeQueue('it', () => makeWorld(open)))

async function makeWorld(open: Databases): Promise<QueueWorld> {
  const place = await open.place()
  const { databaseUrl: url } = place
  const db = await open(place)
  const shared = memoryBus({ log: silentLog })
  return {
    db,
    async join(instanceId, pollMs = 100) {
      // On the file store every process is this one.
      const own = url === undefined ? db : await open(place)
      const bus = url === undefined ? shared : await openPostgresBus({ url, db: own, log: silentLog })
      const queue = databaseQueue({
        db: own,
        bus,
        clock: systemClock,
        ids: idGenerator(systemClock),
        log: silentLog,
        instanceId,
        pollMs,
        backoff: { baseMs: 20, capMs: 100 },
      })
      onTestFinished(async () => {
        await queue.close()
        await bus.close()
      })
      return queue
    },
    crash: (instanceId, lane, leaseMs) => crash(place, instanceId, lane, leaseMs),
  }
}

async function crash({ dataDir, databaseUrl = '' }: Place, instanceId: string, lane: string, leaseMs: number) {
  const args = [
    '--import',
    'tsx',
    'test/kit/crashing-worker.ts',
    dataDir,
    databaseUrl,
    instanceId,
    lane,
    String(leaseMs),
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}
