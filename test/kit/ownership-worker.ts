/**
 * An instance that owns accounts and writes to each in fenced transactions, like sync. Tests kill and suspend it. It prints
 * `{"owned": […]}` after every change of ownership, and `{"dead": id}` when it takes from a dead instance what that held.
 */
import { catalogue } from '../../src/app/event-catalogue.ts'
import { recorder } from '../../src/events/index.ts'
import { fence, OwnershipLost, ownership } from '../../src/features/accounts/index.ts'
import { memoryBus } from '../../src/infra/bus/index.ts'
import { openPostgres } from '../../src/infra/db/postgres.ts'
import { silentLog } from '../../src/infra/log/index.ts'
import { openPresence } from '../../src/infra/presence/index.ts'
import { sleep } from '../../src/lib/abort.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { idGenerator } from '../../src/lib/ids.ts'
import { sampleEvent } from './events.ts'

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
