import type { Insertable } from 'kysely'
import { migrations } from '../src/migrations/index.ts'
import { type Db, insertRows, migrateUp, type Tables } from '../src/platform/db/index.ts'
import { idGenerator } from '../src/platform/ids.ts'
import { systemClock } from '../src/platform/time/clock.ts'
import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { startReceiver } from '../test/servers/receiver.ts'
import { seedAccount, seedFolder } from './message-seed.ts'
import type { Place } from './stores.ts'

const ROWS_PER_TRANSACTION = 1000
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const SLUG = 'bench'

/** Rows as their lists show them, in order. */
export interface SeededTables {
  accountId: string
  /** An account with few deliveries and a hundredth of the bookings. */
  otherId: string
  endpointIds: readonly string[]
  accounts: readonly { id: string; email: string }[]
  deliveries: readonly Insertable<Tables['webhookDeliveries']>[]
  audit: readonly Insertable<Tables['auditEntries']>[]
  outbox: readonly Insertable<Tables['outbox']>[]
  bookings: readonly Insertable<Tables['bookings']>[]
  jobs: readonly Insertable<Tables['bookingTasks']>[]
  backfills: readonly Insertable<Tables['backfills']>[]
  drafts: readonly { id: string }[]
  messages: readonly { id: string }[]
  slug: string
}

/** Creates one row of each kind as the service does, and multiplies it. Nothing of it causes work: all are paused, over or far away. */
export async function seedTables(place: Place, count: number): Promise<SeededTables> {
  const empty = openDatabase(place)
  await migrateUp(empty, migrations, () => {})
  const accountId = await seedAccount(empty)
  await empty.close()
  const endpointIds = await createOneOfEach(place, accountId)
  const db = openDatabase(place)
  try {
    const seeded = await multiplyAll(db, { accountId, endpointIds, count })
    // The index of searches is not measured here.
    await db.transaction((tx) => tx.deleteFrom('unindexedMessages').execute())
    return seeded
  } finally {
    await db.close()
    // Autovacuum does this in operation; the test server has none.
    if (place.databaseUrl !== undefined) await administer(place.databaseUrl, 'vacuum analyze')
  }
}

/** Returns the ids of two endpoints. */
async function createOneOfEach(place: Place, accountId: string): Promise<string[]> {
  const receiver = await startReceiver()
  const service = await startServiceProcess(place)
  const api = client(service.url, service.key)
  try {
    const endpointIds: string[] = []
    for (const path of ['/one', '/two']) {
      const url = new URL(path, receiver.url).href
      const { id } = await api.call('POST', '/webhooks/endpoints', { url, eventTypes: ['account.deleted'] })
      endpointIds.push(String(id))
    }
    await api.call('POST', `/webhooks/endpoints/${endpointIds[0]}/test`)
    const later = new Date(systemClock.now() + 100 * DAY_MS)
    later.setUTCHours(12, 0, 0, 0)
    await api.call('POST', `/accounts/${accountId}/messages/send`, {
      to: ['bob@example.com'],
      subject: 'Figures',
      body: 'Hello',
      sendAt: later.toISOString(),
    })
    await api.call('POST', '/scheduler/experiences', {
      slug: SLUG,
      name: 'Call',
      timezone: 'UTC',
      availability: {
        openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
        maximumDaysAhead: 365,
        reminders: [60],
      },
    })
    await api.call('POST', `/scheduler/experiences/${SLUG}/bookings`, {
      slot: { start: later.toISOString() },
      guest: { name: 'Grace Hopper', email: 'grace@example.com' },
    })
    await api.call('PATCH', `/accounts/${accountId}`, { paused: false })
    await api.call('POST', `/historical-sync/start/${accountId}`)
    await api.call('PATCH', `/accounts/${accountId}`, { paused: true })
    return endpointIds
  } finally {
    await service.stop()
    await receiver.close()
  }
}

type RowOf<Table extends keyof Tables> = Insertable<Tables[Table]>

/** Replaces the rows of a table by `count` copies of one of them. `vary` must change what is unique. */
async function multiply<Table extends keyof Tables & string>(
  db: Db,
  table: Table,
  count: number,
  vary: (index: number) => Partial<RowOf<Table>>,
): Promise<RowOf<Table>[]> {
  const { rows: found } = await db.read.executeQuery<RowOf<Table>>(
    db.read.selectFrom<keyof Tables>(table).selectAll().limit(1).compile(),
  )
  const [first] = found
  if (first === undefined) throw new Error(`no row of ${table} was created`)
  if (table !== 'accounts') await db.transaction((tx) => tx.deleteFrom<keyof Tables>(table).execute())
  const rows = Array.from({ length: count }, (_, index) => ({ ...first, ...vary(index) }))
  await insertAll(db, table, rows)
  return rows
}

async function insertAll<Table extends keyof Tables & string>(db: Db, table: Table, rows: readonly RowOf<Table>[]) {
  for (let start = 0; start < rows.length; start += ROWS_PER_TRANSACTION) {
    await db.transaction((tx) => insertRows(tx, table, rows.slice(start, start + ROWS_PER_TRANSACTION)))
  }
}

/** Keeps the types of the two values. */
const chooseOne = <A extends string, B extends string>(isRare: boolean, rare: A, usual: B): A | B =>
  isRare ? rare : usual

interface Seeding {
  accountId: string
  endpointIds: readonly string[]
  count: number
}

/** One row in a hundred or a thousand has the rarer value of each column. */
async function multiplyAll(db: Db, { accountId, endpointIds, count }: Seeding): Promise<SeededTables> {
  const newId = idGenerator(systemClock)
  const newIds = (prefix: Parameters<typeof newId>[0]) => Array.from({ length: count }, () => newId(prefix))
  const nowMs = systemClock.now()
  const at = (index: number) => nowMs - (count - index) * 1000
  const accountIds = newIds('acc')
  const [otherId = ''] = accountIds
  /** Each host has a hundredth of the bookings. */
  const pickHost = (index: number) => accountIds[index % Math.min(100, count)] ?? ''
  const bookingIds = newIds('bkg')
  const [deliveryIds, auditIds, outboxIds, taskIds] = [newIds('dlv'), newIds('aud'), newIds('obx'), newIds('job')]

  const accounts = await multiply(db, 'accounts', count, (index) => ({
    id: accountIds[index] ?? '',
    identity: `identity ${index}`,
    providerUser: `["bench","${index}"]`,
    email: `user${index}@bench.example`,
    customUserId: `customer-${index}`,
    searchText: `user${index}@bench.example\ncustomer-${index}`,
    paused: 1,
    status: 'connected' as const,
    statusReason: null,
    trouble: null,
    syncRequestedAt: null,
    ownerInstance: null,
  }))
  const deliveries = await multiply(db, 'webhookDeliveries', count, (index) => ({
    id: deliveryIds[index] ?? '',
    endpointId: endpointIds[index % 2] ?? '',
    createdAt: at(index),
    eventType: chooseOne(index % 10 === 0, 'message.sent', 'message.received'),
    accountId: index % 1000 === 1 ? otherId : accountId,
    status: chooseOne(index % 1000 === 0, 'failed', 'success'),
  }))
  await multiply(db, 'webhookAttempts', count, (index) => ({ deliveryId: deliveryIds[index] ?? '' }))
  await db.transaction((tx) => tx.updateTable('webhookDeliveryCount').set({ total: count }).execute())
  const audit = await multiply(db, 'auditEntries', count, (index) => ({
    id: auditIds[index] ?? '',
    at: at(index),
    actor: chooseOne(index % 1000 === 0, 'key:rare', 'service'),
    action: chooseOne(index % 10 === 0, 'account.updated', 'draft.deleted'),
    target: accountIds[index] ?? '',
  }))
  const outbox = await multiply(db, 'outbox', count, (index) => ({
    id: outboxIds[index] ?? '',
    messageId: newId('msg'),
    rfcMessageId: `<${index}@bench.example>`,
    sentToken: `token ${index}`,
    accountId: index % 1000 === 1 ? otherId : accountId,
    status: chooseOne(index % 100 === 0, 'failed', 'sent'),
    sendAt: null,
    dueAt: null,
    sentAt: at(index),
    createdAt: at(index),
    updatedAt: at(index),
  }))
  const [firstStart = 0] = (await db.read.selectFrom('bookings').select('startMs').execute()).map((row) => row.startMs)
  const bookings = await multiply(db, 'bookings', count, (index) => ({
    id: bookingIds[index] ?? '',
    requestKey: null,
    guestEmail: `guest${index}@bench.example`,
    startMs: firstStart + index * MINUTE_MS,
    endMs: firstStart + (index + 30) * MINUTE_MS,
    status: chooseOne(index % 1000 === 0, 'cancelled', 'confirmed'),
    hosts: JSON.stringify([pickHost(index)]),
  }))
  const assigned = bookings.map(({ id, startMs }, index) => ({ bookingId: id, hostId: pickHost(index), startMs }))
  await insertAll(db, 'bookingAssignments', assigned)
  const jobs = await multiply(db, 'bookingTasks', count, (index) => ({
    id: taskIds[index] ?? '',
    bookingId: bookingIds[index] ?? '',
    dueAt: null,
    status: chooseOne(index % 1000 === 0, 'failed', 'completed'),
    type: chooseOne(index % 1000 === 1, 'message', 'reminder'),
  }))
  const backfills = await multiply(db, 'backfills', count, (index) => ({
    accountId: accountIds[index] ?? '',
    status: chooseOne(index % 1000 === 0, 'failed', 'cancelled'),
  }))

  const inbox = await seedFolder(db, accountId, { path: 'INBOX', role: 'inbox', syncedAs: 'main:INBOX' }, count)
  const drafts = await seedFolder(db, accountId, { path: 'Drafts', role: 'drafts', syncedAs: 'folder:Drafts' }, count)
  const body = JSON.stringify({ text: 'See you at eight.', html: null, headers: [] })
  const bodies = drafts.newestFirst.map(({ id }) => ({ messageId: id, accountId, body, attempts: 0 }))
  await insertAll(db, 'messageBodies', bodies)
  return {
    accountId,
    otherId,
    endpointIds,
    slug: SLUG,
    accounts: [...accounts.toReversed(), { id: accountId, email: 'ada@example.com' }],
    deliveries: deliveries.toReversed(),
    audit: audit.toReversed(),
    outbox: outbox.toReversed(),
    bookings: bookings.toReversed(),
    jobs: jobs.toReversed(),
    backfills: backfills.toReversed(),
    drafts: drafts.newestFirst,
    messages: inbox.newestFirst,
  }
}
