import { sql } from 'kysely'
import pg from 'pg'
import type { Tx } from '../db.ts'
import type { Replacement } from '../replacement.ts'
import { openPostgres } from './postgres.ts'

const SCHEMA = 'posthorn_restore'
/** Arbitrary. Held while a replacement exists. */
const LOCK = 7_074_832

export interface PostgresReplacementOptions {
  url: string
  /** Called in the transaction that swaps, before anything is changed and while nobody else can change `instances`. Throws to stop it. */
  beforeSwap(tx: Tx): Promise<void>
}

/** Replaces the tables of the current schema by those of another one, which only this process uses. */
export async function postgresReplacement({ url, beforeSwap }: PostgresReplacementOptions): Promise<Replacement> {
  const client = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'posthorn restore' })
  client.on('error', () => {})
  await client.connect()
  const namesIn = async (schema: string) => {
    const select = 'select tablename::text as "name" from pg_tables where schemaname = $1 order by tablename'
    return (await client.query<{ name: string }>(select, [schema])).rows.map(({ name }) => name)
  }
  let current: string
  try {
    const { rows } = await client.query<{ isFree: boolean; schema: string | null }>(
      `select pg_try_advisory_lock(${LOCK}) as "isFree", current_schema()::text as "schema"`,
    )
    if (rows[0]?.isFree !== true) throw new Error('Another process restores this database.')
    if (rows[0].schema === null) throw new Error('The schema of DATABASE_URL does not exist. Create it.')
    current = rows[0].schema
    // A killed process has left it.
    await client.query(`drop schema if exists "${SCHEMA}" cascade; create schema "${SCHEMA}"`)
  } catch (error) {
    await client.end()
    throw error
  }
  const db = openPostgres({ url, maxConnections: 2, schema: SCHEMA, hasTimeouts: false, onError: () => {} })
  let closing: Promise<void> | undefined

  async function end(): Promise<void> {
    await db.close()
    await client.query(`drop schema if exists "${SCHEMA}" cascade`).finally(() => client.end())
  }

  return {
    db,

    async swap() {
      const names = await namesIn(SCHEMA)
      const inCurrent = new Set(await namesIn(current))
      await db.transaction(async (tx) => {
        await sql`set local lock_timeout = '10s'`.execute(tx)
        await sql`set local search_path = ${sql.id(current)}`.execute(tx)
        if (inCurrent.has('instances')) {
          await sql`lock table "instances" in access exclusive mode`.execute(tx)
          await beforeSwap(tx)
        }
        for (const name of names) {
          if (inCurrent.has(name)) await sql`drop table ${sql.table(name)}`.execute(tx)
          await sql`alter table ${sql.table(`${SCHEMA}.${name}`)} set schema ${sql.id(current)}`.execute(tx)
        }
      })
    },

    close() {
      closing ??= end()
      return closing
    },
  }
}
