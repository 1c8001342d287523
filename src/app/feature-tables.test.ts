import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../test/kit/database/database.ts'
import { insertFilledRow, readColumns, tableNames } from '../../test/kit/database/filled-row.ts'
import type { Deletion, Feature, TableRows } from '../feature.ts'
import type { Db, Tx } from '../platform/db/index.ts'
import { afterRestore, erasures, featureList, purgeRules, sealedColumns } from './feature-list.ts'

const NOW = Date.UTC(2031, 4, 5)
const features: readonly Feature[] = featureList
const declared = new Map<string, TableRows>(features.flatMap(({ tables = {} }) => Object.entries(tables)))
/** The search index of SQLite is a file of its own. */
const ONLY_POSTGRES = ['messageTerms']

/** Columns with the id of an account. */
const ACCOUNT = /^(accountId|hostId)$/
/** Columns that make the rows of a backup wait for an instance or a run. */
const HELD = /^(ownerInstance|tokenLeaseUntil|leasedUntil|leaseUntil)$/

type Values = Record<string, Record<string, unknown>>
/** Column values that the functions under test select by, or parse. */
const FINISHED: Values = { events: { position: 1 }, outbox: { status: 'sent' } }
const RUNNING: Values = { bookingTasks: { dueAt: 1 }, idempotencyKeys: { state: 'running' } }
const hostedBy = (accountId: string): Values => ({
  bookings: { hosts: JSON.stringify([accountId]), slot: JSON.stringify({ hosts: [], participants: [] }) },
})

function tablesDeletedBy(deletion: Deletion): string[] {
  return [...declared].flatMap(([table, { deletedBy }]) =>
    typeof deletedBy !== 'string' && deletedBy.includes(deletion) ? [table] : [],
  )
}

/** The tables with a row that has this text as an id. */
async function tablesWith(db: Db, tables: readonly string[], text: string): Promise<string[]> {
  const found: string[] = []
  for (const table of tables) {
    const columns = await readColumns(db, table)
    const has = columns.filter(({ isText }) => isText).map(({ name }) => sql`${sql.id(name)} = ${text}`)
    const { rows } = await sql`select 1 from ${sql.table(table)} where ${sql.join(has, sql` or `)}`.execute(db.read)
    if (rows.length > 0) found.push(table)
  }
  return found
}

async function runToEnd(db: Db, step: (tx: Tx) => Promise<number>): Promise<void> {
  for (let rows = -1; rows !== 0; ) rows = await db.transaction(step)
}

describeEachDatabase('the tables of the features', (open, engine) => {
  it('are those of the database, each declared once', async () => {
    const all = features.flatMap(({ tables = {} }) => Object.keys(tables)).sort()
    expect(all.filter((table, index) => all.indexOf(table) !== index)).toEqual([])
    const expected = all.filter((table) => engine === 'postgres' || !ONLY_POSTGRES.includes(table))
    expect(await tableNames(await open())).toEqual(expected)
  })

  it('say why rows of a deleted account stay where they are not erased', async () => {
    const db = await open()
    const erased = tablesDeletedBy('erase')
    const unexplained: string[] = []
    for (const table of await tableNames(db)) {
      const isOfAccount = (await readColumns(db, table)).some(({ name }) => ACCOUNT.test(name))
      const isExplained = declared.get(table)?.outlivesAccount !== undefined
      if (isOfAccount && !isExplained && !erased.includes(table)) unexplained.push(table)
    }
    expect(unexplained).toEqual([])
  })

  it('have no row of a deleted account after its erasure, and all rows of others', async () => {
    const db = await open()
    const tables = tablesDeletedBy('erase')
    for (const accountId of ['acc_deleted', 'acc_kept']) {
      for (const table of tables) await insertFilledRow(db, table, accountId, hostedBy(accountId)[table])
    }
    expect(await tablesWith(db, tables, 'acc_deleted')).toEqual(tables)
    for (const erase of erasures) await runToEnd(db, (tx) => erase(tx, 'acc_deleted', 200))
    expect(await tablesWith(db, tables, 'acc_deleted')).toEqual([])
    expect(await tablesWith(db, tables, 'acc_kept')).toEqual(tables)
    for (const erase of erasures) await runToEnd(db, (tx) => erase(tx, 'acc_kept', 200))
    expect(await tablesWith(db, tables, 'acc_kept')).toEqual([])
  })

  it('have no old row after a purge', async () => {
    const db = await open()
    const tables = tablesDeletedBy('purge')
    for (const table of tables) await insertFilledRow(db, table, 'old', FINISHED[table])
    expect(await tablesWith(db, tables, 'old')).toEqual(tables)
    for (const { purge } of purgeRules) await runToEnd(db, (tx) => purge(tx, NOW, 200))
    expect(await tablesWith(db, tables, 'old')).toEqual([])
  })

  it('wait for no instance and no run in a restored backup', async () => {
    const db = await open()
    const held: [table: string, columns: string[]][] = []
    for (const table of await tableNames(db)) {
      const columns = (await readColumns(db, table)).map(({ name }) => name).filter((name) => HELD.test(name))
      if (columns.length > 0 && declared.get(table)?.isInBackup !== false) held.push([table, columns])
    }
    expect(held.map(([table]) => table)).toContain('webhookDeliveries')
    for (const [table, columns] of held) {
      const numbers = (await readColumns(db, table)).filter(({ name, isText }) => columns.includes(name) && !isText)
      const values = Object.fromEntries(numbers.map(({ name }) => [name, 1]))
      await insertFilledRow(db, table, 'held', { ...values, ...RUNNING[table] })
    }
    await db.transaction((tx) => afterRestore(tx, { nowMs: NOW, isMoved: true }))
    for (const [table, columns] of held) {
      const isHeld = columns.map((name) => sql`${sql.id(name)} is not null`)
      const { rows } = await sql`select * from ${sql.table(table)} where ${sql.join(isHeld, sql` or `)}`.execute(
        db.read,
      )
      expect([table, rows]).toEqual([table, []])
    }
  })

  it('have the columns that are declared as sealed', async () => {
    const db = await open()
    for (const { table, key, column } of sealedColumns) {
      const names = (await readColumns(db, table)).map(({ name }) => name)
      expect(names).toEqual(expect.arrayContaining([key, column]))
    }
  })
})
