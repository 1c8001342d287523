import { systemClock } from '../../src/platform/time/clock.ts'
import { openDatabase } from '../../test/kit/database/open-database.ts'
import { webhookFixture } from '../../test/kit/events/webhooks.ts'
import { allDelivered, recordAsDelivered } from '../deliver.ts'
import { startSink } from '../sink.ts'
import { spentHere } from '../spent.ts'
import { countEvents } from './event-seed.ts'
import type { Done, FilledStore, Work } from './work.ts'

const DELIVERIES = 10_000

/** Events to one endpoint, recorded as fast as they are delivered, beside those that were delivered before. */
export const deliver: Work = {
  name: 'deliver',
  item: 'delivery',
  needsEvents: true,
  async run({ place }: FilledStore): Promise<Done> {
    const sink = await startSink()
    const db = openDatabase(place)
    const app = webhookFixture(db)
    try {
      const before = await countEvents(db)
      const { id } = await app.create({ url: sink.url, eventTypes: ['message.received'] })
      await app.engine.start()
      // Events of a round before would count as repeated ones for minutes.
      const first = systemClock.now()
      const events = { recorded: first }
      const record = (deliveries: number) => recordAsDelivered(app, sink, { endpoints: 1, deliveries, events })
      await record(DELIVERIES / 10)
      await allDelivered(app)
      const cpuMs = await spentHere(db, async () => {
        await record(DELIVERIES)
        await allDelivered(app)
      })
      const after = await countEvents(db)
      const added = after.rows.map((count, index) => count - (before.rows[index] ?? 0))
      if (added.some((count) => count !== events.recorded - first)) {
        throw new Error(`${added.join(', ')} rows were added instead of ${events.recorded - first}.`)
      }
      await db.transaction((tx) => tx.deleteFrom('webhookEndpoints').where('id', '=', id).execute())
      return { items: DELIVERIES, cpuMs }
    } finally {
      await app.close()
      sink.stop()
    }
  },
}
