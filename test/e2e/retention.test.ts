import { expect, it } from 'vitest'
import type { Db } from '../../src/platform/db/index.ts'
import { closing } from '../kit/closing.ts'
import { describeEachDatabase } from '../kit/database/database.ts'
import { sampleEvent } from '../kit/events/events.ts'
import { eventually } from '../kit/eventually.ts'
import { startService } from '../kit/service/service.ts'

const HOUR_MS = 3_600_000
/** Ages on both sides of one, two and three days. */
const AGES = [12, 36, 60, 84]
/** One setting each, so that none can be taken for another. */
const SETTINGS = { RETENTION_EVENTS_DAYS: '1', RETENTION_DELIVERIES_DAYS: '2', RETENTION_SESSIONS_DAYS: '3' }

describeEachDatabase('a running service', (open) => {
  it('deletes each kind of row after its own retention, and keeps what is younger', async () => {
    const place = await open.place()
    const db = await open(place)
    await fill(db)
    const service = await startService({ place, environment: SETTINGS })
    closing({ close: service.stop })
    await eventually(async () =>
      expect(await left(db)).toEqual({
        events: ['evt_12'],
        deliveries: ['dlv_12', 'dlv_36'],
        sessions: ['aus_12', 'aus_36', 'aus_60'],
        // Both carry the time of their end; a late fan-out may need a claim for another hour.
        idempotencyKeys: ['key 0'],
        claims: ['claim 0'],
      }),
    )
    expect((await db.read.selectFrom('eventPosition').select('total').execute())[0]?.total).toBe(1)
  })
})

async function fill(db: Db): Promise<void> {
  const now = Date.now()
  const { type, data } = sampleEvent('mailbox.changed')
  await db.transaction(async (tx) => {
    for (const [index, age] of AGES.entries()) {
      const at = now - age * HOUR_MS
      const eventId = `evt_${age}`
      await tx
        .insertInto('events')
        .values({
          id: eventId,
          type,
          accountId: null,
          provider: 'imap',
          sequence: null,
          objectId: null,
          version: null,
          data: JSON.stringify(data),
          position: index + 1,
          createdAt: at,
        })
        .execute()
      await tx
        .insertInto('webhookDeliveries')
        .values({
          id: `dlv_${age}`,
          endpointId: 'whe_1',
          eventId,
          eventType: type,
          accountId: null,
          status: 'success',
          trigger: 'event',
          test: 0,
          attempt: 1,
          maxAttempts: 1,
          nextAttemptAt: null,
          leasedUntil: null,
          lease: null,
          url: 'https://app.example',
          createdAt: at,
        })
        .execute()
      await tx
        .insertInto('authSessions')
        .values({
          id: `aus_${age}`,
          codeHash: `hash ${age}`,
          status: 'pending',
          provider: null,
          providerFixed: 0,
          email: null,
          customUserId: null,
          redirectUri: 'https://app.example',
          forceConsent: 0,
          jsonStateHash: null,
          attempts: 0,
          accountId: null,
          failureCode: null,
          expiresAt: at,
          createdAt: at,
          updatedAt: at,
        })
        .execute()
      await tx
        .insertInto('idempotencyKeys')
        .values({
          id: `key ${age}`,
          bodyHash: '',
          state: 'done',
          leaseUntil: at,
          token: '',
          status: 200,
          answer: null,
          expiresAt: at,
        })
        .execute()
      await tx
        .insertInto('deduplicationClaims')
        .values({ key: `claim ${age}`, eventId, expiresAt: at })
        .execute()
    }
    await tx
      .insertInto('idempotencyKeys')
      .values({
        id: 'key 0',
        bodyHash: '',
        state: 'done',
        leaseUntil: now,
        token: '',
        status: 200,
        answer: null,
        expiresAt: now + HOUR_MS,
      })
      .execute()
    await tx
      .insertInto('deduplicationClaims')
      .values({ key: 'claim 0', eventId: 'evt_12', expiresAt: now - HOUR_MS / 2 })
      .execute()
    await tx.updateTable('eventPosition').set({ position: AGES.length, total: AGES.length }).execute()
    await tx.updateTable('webhookDeliveryCount').set({ total: AGES.length }).execute()
  })
}

async function left(db: Db) {
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id)
  return {
    events: ids(await db.read.selectFrom('events').select('id').orderBy('id').execute()),
    deliveries: ids(await db.read.selectFrom('webhookDeliveries').select('id').orderBy('id').execute()),
    sessions: ids(await db.read.selectFrom('authSessions').select('id').orderBy('id').execute()),
    idempotencyKeys: ids(await db.read.selectFrom('idempotencyKeys').select('id').execute()),
    claims: ids(await db.read.selectFrom('deduplicationClaims').select('key as id').execute()),
  }
}
