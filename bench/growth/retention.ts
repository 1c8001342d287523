import { purgeRules } from '../../src/app/feature-list.ts'
import { retentionJob } from '../../src/app/retention-job.ts'
import { openDatabase } from '../../test/kit/database/open-database.ts'
import { compose } from '../../test/kit/service/composition.ts'
import { awaitRecord, spentHere } from '../spent.ts'
import { countEvents, seedEvents } from './event-seed.ts'
import { type Held, heldDuring } from './held-loop.ts'
import type { Done, FilledStore, Work } from './work.ts'

/** Expired events, and as many deliveries. */
const EXPIRED = 20_000
const EXPIRED_DAYS = 40

/** The hourly purge, with expired events and deliveries among those that are kept. */
export const retention: Work = {
  name: 'retention',
  item: 'expired row',
  needsEvents: true,
  async run({ place }: FilledStore): Promise<Done> {
    const db = openDatabase(place)
    const { context, infrastructure, close } = compose(db)
    try {
      const kept = await countEvents(db)
      // Positions below those of the events that are kept.
      await seedEvents(db, { count: EXPIRED, mark: '00', ageDays: EXPIRED_DAYS, afterPosition: 0 })
      const { log, written } = awaitRecord('service.retention')
      const job = retentionJob({
        ...context,
        ...infrastructure,
        db,
        log,
        rules: purgeRules,
        settings: context.config,
      })
      let held: Held = { heldMs: 0, turnCpuMs: 0 }
      const cpuMs = await spentHere(db, async () => {
        held = await heldDuring(async () => {
          await job.start()
          await written
        })
      })
      await job.stop()
      const deleted = (await written).metadata
      const found = await countEvents(db)
      if (JSON.stringify(found) !== JSON.stringify(kept) || deleted?.events !== EXPIRED) {
        throw new Error(
          `Retention left ${JSON.stringify(found)} of ${JSON.stringify(kept)}, and deleted ${JSON.stringify(deleted)}.`,
        )
      }
      return { items: 2 * EXPIRED, cpuMs, held }
    } finally {
      await close()
    }
  },
}
