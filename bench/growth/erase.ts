import { erasure, requestErasure } from '../../src/accounts/index.ts'
import { erasures } from '../../src/app/feature-list.ts'
import type { Db } from '../../src/platform/db/index.ts'
import { testAccounts } from '../../test/kit/accounts/accounts.ts'
import { openDatabase } from '../../test/kit/database/open-database.ts'
import { compose } from '../../test/kit/service/composition.ts'
import { awaitRecord, spentHere } from '../spent.ts'
import { countEvents, seedEvents } from './event-seed.ts'
import { type Held, heldDuring } from './held-loop.ts'
import type { Done, FilledStore, Work } from './work.ts'

/** Events of the account, and as many deliveries. */
const EVENTS = 5_000
const FIRST_POSITION = 2_000_000

/** The erasure of a deleted account with 5,000 messages, events and deliveries. */
export const erase: Work = {
  name: 'erase an account',
  item: 'row',
  needsEvents: true,
  async run({ place, seed: { others } }: FilledStore, round: number): Promise<Done> {
    const accountId = others?.accountIds.pop()
    if (others === undefined || accountId === undefined || others.accountIds.length === 0) {
      throw new Error('The store has too few accounts.')
    }
    const db = openDatabase(place)
    const { context, infrastructure, close } = compose(db)
    try {
      const before = { events: await countEvents(db), messages: await countMessages(db) }
      const neighbour = await countMessages(db, others.accountIds.at(-1))
      const own = await countMessages(db, accountId)
      // Those of its creation. Only those that the fan-out has stamped are in the total.
      const ownEvents = await db.read
        .selectFrom('events')
        .select('position')
        .where('accountId', '=', accountId)
        .execute()
      const afterPosition = FIRST_POSITION + round * EVENTS
      await seedEvents(db, { count: EVENTS, mark: `b${round}`, ageDays: 2, afterPosition, accountId })
      const { log, written } = awaitRecord('accounts.erase')
      const erasing = erasure({ ...context, ...infrastructure, db, log, erase: erasures, forget: async () => {} })
      const { accounts } = testAccounts(db, {
        bus: infrastructure.bus,
        sealer: infrastructure.secrets.sealer,
        onRemove: requestErasure(infrastructure.queue),
      })
      await erasing.start()
      let held: Held = { heldMs: 0, turnCpuMs: 0 }
      const cpuMs = await spentHere(db, async () => {
        held = await heldDuring(async () => {
          await db.transaction((tx) => accounts.remove(tx, accountId))
          await written
        })
      })
      await erasing.stop()
      // The event of the deletion stays.
      await db.transaction(async (tx) => {
        await tx.deleteFrom('events').where('accountId', '=', accountId).execute()
        await tx.deleteFrom('unindexedMessages').execute()
      })
      const after = { events: await countEvents(db), messages: await countMessages(db) }
      const [events = 0, ...deliveries] = before.events.rows
      const [stamped = 0, ...totals] = before.events.totals
      const ownStamped = ownEvents.filter(({ position }) => position !== null)
      const expected = {
        events: {
          rows: [events - ownEvents.length, ...deliveries],
          totals: [stamped - ownStamped.length, ...totals],
        },
        messages: before.messages.map((count, index) => count - (own[index] ?? 0)),
      }
      const isSame = JSON.stringify(await countMessages(db, others.accountIds.at(-1))) === JSON.stringify(neighbour)
      if (JSON.stringify(after) !== JSON.stringify(expected) || !isSame) {
        throw new Error(`The erasure left ${JSON.stringify(after)} instead of ${JSON.stringify(expected)}.`)
      }
      return { items: Number((await written).metadata?.rows), cpuMs, held }
    } finally {
      await close()
    }
  },
}

/** Messages, their entries in folders, and their texts; of one account or of all. */
async function countMessages(db: Db, accountId?: string): Promise<number[]> {
  let messages = db.read.selectFrom('messages')
  if (accountId !== undefined) messages = messages.where('accountId', '=', accountId)
  const counted = (query: { executeTakeFirstOrThrow(): Promise<{ count: number | bigint | string }> }) =>
    query.executeTakeFirstOrThrow().then(({ count }) => Number(count))
  const inFolders = messages.innerJoin('messageLabels', 'messageLabels.messageId', 'messages.id')
  const texts = messages.innerJoin('messageTexts', 'messageTexts.messageId', 'messages.id')
  return [
    await counted(messages.select((eb) => eb.fn.countAll<number>().as('count'))),
    await counted(inFolders.select((eb) => eb.fn.countAll<number>().as('count'))),
    await counted(texts.select((eb) => eb.fn.countAll<number>().as('count'))),
  ]
}
