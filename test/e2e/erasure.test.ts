import { once } from 'node:events'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { Db } from '../../src/platform/db/index.ts'
import { imapUser, testAccounts } from '../kit/accounts/accounts.ts'
import { describeEachDatabase, type Place } from '../kit/database/database.ts'
import { startWorker } from '../kit/workers/start.ts'

const MESSAGES = 3000
/** Tables with rows of an account. */
const TABLES = [
  'accounts',
  'events',
  'eventSequences',
  'messages',
  'messageBodies',
  'messageCounters',
  'accountErasures',
]

describeEachDatabase('an erasure whose process is killed midway', (open) => {
  /** Runs a process that kills itself in the given part (0: never). Returns its signal or exit code. */
  async function run(place: Place, name: string, dieIn: number, dead = ''): Promise<string | number | null> {
    const child = startWorker('erasure-worker', [JSON.stringify(place), name, String(dieIn), dead])
    await once(child, 'exit')
    return child.signalCode ?? child.exitCode
  }

  async function fillMessages(db: Db, accountId: string): Promise<void> {
    await db.transaction(async (tx) => {
      for (let i = 0; i < MESSAGES; i += 1) {
        await sql`insert into "messages" ("id", "accountId", "providerMessageId", "headerHash", "subject", "receivedAt", "unread", "starred",
          "hasAttachments", "sizeBytes", "snippet", "text", "fields", "version", "createdAt", "updatedAt")
          values (${`msg_${accountId}_${i}`}, ${accountId}, ${String(i)}, ${String(i)}, 'A message', ${i}, 0, 0, 0, 0, '', '', '{}', 1, 0, 0)`.execute(
          tx,
        )
      }
      await sql`insert into "messageBodies" ("messageId", "accountId", "attempts")
        select "id", "accountId", 0 from "messages" where "accountId" = ${accountId}`.execute(tx)
      await tx.insertInto('messageCounters').values({ accountId, labelId: '', total: MESSAGES, unread: 0 }).execute()
    })
  }

  async function count(db: Db, table: string, accountId: string): Promise<number> {
    const column = table === 'accounts' ? 'id' : 'accountId'
    const { rows } = await sql<{ count: number }>`select count(*) as "count" from ${sql.id(table)}
      where ${sql.id(column)} = ${accountId}`.execute(db.read)
    return Number(rows[0]?.count)
  }

  it('is finished by the next process, and keeps other accounts', async () => {
    const place = await open.place()
    const db = await open(place)
    const fixture = testAccounts(db)
    const deleted = await fixture.link(imapUser('deleted'))
    const kept = await fixture.link(imapUser('kept'))
    for (const { id } of [deleted, kept]) await fillMessages(db, id)
    await db.transaction((tx) => fixture.accounts.remove(tx, deleted.id))

    expect(await run(place, 'first', 7)).toBe('SIGKILL')
    const left = await count(db, 'messages', deleted.id)
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(MESSAGES)
    expect(await count(db, 'accountErasures', deleted.id)).toBe(1)

    expect(await run(place, 'second', 0, 'first')).toBe(0)
    const counts = async (id: string) => Promise.all(TABLES.map((table) => count(db, table, id)))
    expect(await counts(deleted.id)).toEqual([0, 1, 0, 0, 0, 0, 0])
    expect(await counts(kept.id)).toEqual([1, 1, 1, MESSAGES, MESSAGES, 1, 0])
    expect((await fixture.events(deleted.id)).map((event) => event.type)).toEqual(['account.deleted'])
  })
})
