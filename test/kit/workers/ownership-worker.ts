/**
 * An instance that owns accounts and writes to each in fenced transactions, like sync. Tests kill and suspend it. It prints
 * `{"owned": […]}` after every change of ownership, and `{"dead": id}` when it takes from a dead instance what that held.
 */

import { fence, ownership } from '../../../src/accounts/cluster/index.ts'
import { OwnershipLost } from '../../../src/accounts/index.ts'
import { catalogue } from '../../../src/app/feature-list.ts'
import { recorder } from '../../../src/events/index.ts'
import { memoryBus } from '../../../src/platform/bus/index.ts'
import { sleep } from '../../../src/platform/concurrency/abort.ts'
import { openPostgres } from '../../../src/platform/db/postgres/postgres.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import { openPresence } from '../../../src/platform/presence/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import { sampleEvent } from '../events/events.ts'

const [url = '', instanceId = '', deadAfterMs = ''] = process.argv.slice(2)
const db = openPostgres({ url, maxConnections: 4, onError: () => {} })
const bus = memoryBus({ log: silentLog })
const events = recorder({ catalogue, clock: systemClock, ids: idGenerator(systemClock), bus })
const monotonic = () => systemClock.monotonic()
const presence = await openPresence({ url, instanceId, monotonic, log: silentLog })
const instance = ownership({
  db,
  presence,
  bus,
  clock: systemClock,
  log: silentLog,
  instanceId,
  onInstanceDead: async (dead) => void process.stdout.write(`${JSON.stringify({ dead })}\n`),
  timing: { roundMs: 100, deadAfterMs: Number(deadAfterMs) },
})

const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())
instance.onChange(() => process.stdout.write(`${JSON.stringify({ owned: [...instance.owned().keys()] })}\n`))
await instance.start()
while (!stopping.signal.aborted) {
  for (const [accountId, epoch] of instance.owned()) await work(accountId, epoch)
  await sleep(50, stopping.signal)
}
await instance.stop()
await presence.close()
await db.close()

async function work(accountId: string, epoch: number): Promise<void> {
  try {
    await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      await events.record(tx, [{ ...sampleEvent('mailbox.changed'), accountId, objectId: instanceId, version: epoch }])
    })
  } catch (error) {
    // Like sync, it retries failed work. After a suspension inside a transaction, the server has closed the connection.
    if (!(error instanceof OwnershipLost)) process.stderr.write(`${instanceId}: ${error}\n`)
  }
}
