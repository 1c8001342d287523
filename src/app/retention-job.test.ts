import { expect, it } from 'vitest'
import { closing } from '../../test/kit/closing.ts'
import { databases } from '../../test/kit/database/database.ts'
import { webhookFixture } from '../../test/kit/events/webhooks.ts'
import { eventually } from '../../test/kit/eventually.ts'
import { silentLog } from '../platform/log/index.ts'
import { purgeRules } from './feature-list.ts'
import { retentionJob } from './retention-job.ts'

const open = databases('sqlite')
const EXPIRED = 20_000

it('stops within one batch, however many rows are expired', async () => {
  const { db, queue, clock } = closing(webhookFixture(await open()))
  for (let at = 0; at < EXPIRED; at += 500) {
    const rows = Array.from({ length: 500 }, (_, index) => ({ key: `${at + index}`, eventId: 'evt_1', expiresAt: 1 }))
    await db.transaction((tx) => tx.insertInto('deduplicationClaims').values(rows).execute())
  }
  const left = async () =>
    Number(
      (
        await db.read
          .selectFrom('deduplicationClaims')
          .select((eb) => eb.fn.countAll().as('n'))
          .execute()
      )[0]?.n,
    )
  const retention = retentionJob({
    db,
    queue,
    clock,
    log: silentLog,
    rules: purgeRules,
    settings: {
      retentionEventsDays: 30,
      retentionDeliveriesDays: 30,
      retentionSessionsDays: 7,
      retentionTrackingDays: 180,
      retentionAuditDays: 365,
    },
  })
  await retention.start()
  await eventually(async () => expect(await left()).toBeLessThan(EXPIRED))
  await retention.stop()
  expect(await left()).toBeGreaterThan(0)
})
