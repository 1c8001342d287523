import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { databases, describePostgres, temporaryFolder } from '../../../test/kit/database/database.ts'
import { startTcpProxy } from '../../../test/servers/tcp-proxy.ts'
import { DatabaseUnavailable, setState } from './index.ts'
import { openPostgres } from './postgres/postgres.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import type { Outage } from './unavailable.ts'

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describePostgres('PostgreSQL that cannot do any work now', (open) => {
  it('is distinguished from a wrong statement by its SQLSTATE', async () => {
    const db = await open()
    const outages: Record<string, Outage> = {
      '25006': 'read_only',
      '53100': 'disk_full',
      '53200': 'busy',
      '53300': 'busy',
      '55P03': 'busy',
      '57014': 'busy',
      '57P03': 'unreachable',
      '58030': 'disk_failed',
      '08006': 'unreachable',
      '40001': 'busy',
      '40P01': 'busy',
      XX001: 'damaged',
      XX002: 'damaged',
    }
    const raise = (code: string) =>
      sql.raw(`do $$ begin raise exception 'made by the test' using errcode = '${code}'; end $$`)
    for (const [code, outage] of Object.entries(outages)) {
      const error = await failure(db.transaction((tx) => raise(code).execute(tx)))
      expect([code, error]).toEqual([code, expect.any(DatabaseUnavailable)])
      expect(error, code).toMatchObject({ outage, reason: 'made by the test' })
    }
    for (const code of ['42P01', '23505', '22003', '54000', 'XX000', 'P0001']) {
      expect(await failure(db.transaction((tx) => raise(code).execute(tx))), code).toMatchObject({ code })
    }
    await db.transaction((tx) => setState(tx, 'x', '1'))
  })

  it('has all connections replaced when a write finds out that its server became read-only', async () => {
    const { databaseUrl: url = '' } = await open.place()
    const db = openPostgres({ url, maxConnections: 3, onError: () => {} })
    onTestFinished(() => db.close())
    const sessions = async () => {
      const pids = Array.from({ length: 3 }, () =>
        sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(0.1)`.execute(db.read),
      )
      return (await Promise.all(pids)).map(({ rows }) => rows[0]?.pid ?? 0)
    }
    const before = await sessions()
    // As on connections that still lead to the old primary after a failover.
    await Promise.all(
      before.map(() =>
        sql`select set_config('default_transaction_read_only', 'on', false), pg_sleep(0.1)`.execute(db.read),
      ),
    )
    const rejected = await failure(db.transaction((tx) => setState(tx, 'x', '1')))
    expect(rejected).toMatchObject({ outage: 'read_only' })
    await db.transaction((tx) => setState(tx, 'x', '2'))
    const after = await sessions()
    expect(after.filter((pid) => before.includes(pid))).toEqual([])
  })

  it('is silent when it responds to nothing: running statements fail, later ones at once, until it responds again', async () => {
    const { databaseUrl = '' } = await open.place()
    const url = new URL(databaseUrl)
    const proxy = closing(await startTcpProxy(Number(url.port)))
    url.port = String(proxy.port)
    const silence = { afterMs: 200, probeMs: 500 }
    const db = openPostgres({ url: url.href, maxConnections: 2, onError: () => {}, silence })
    onTestFinished(() => db.close())
    const found = () => sql<{ one: number }>`select 1 as "one"`.execute(db.read)
    await found()
    proxy.freeze()
    expect(await failure(found())).toMatchObject({ outage: 'silent' })
    expect(await failure(found())).toMatchObject({ outage: 'silent' })
    proxy.thaw()
    for (;;) {
      const error = await failure(found())
      if (error === undefined) break
      expect(error).toBeInstanceOf(DatabaseUnavailable)
      await new Promise((resolve) => setImmediate(resolve))
    }
  })

  it('is not silent while a long statement runs on a server that responds', async () => {
    const { databaseUrl: url = '' } = await open.place()
    const db = openPostgres({ url, maxConnections: 1, onError: () => {}, silence: { afterMs: 50 } })
    onTestFinished(() => db.close())
    expect((await sql`select pg_sleep(0.5)`.execute(db.read)).rows).toHaveLength(1)
  })
})

/** Overwrites everything but the header and the schema. */
function damage(file: string): void {
  const { size } = statSync(file)
  const opened = openSync(file, 'r+')
  for (let at = PAGE_BYTES; at < size; at += PAGE_BYTES) {
    writeSync(opened, Buffer.alloc(PAGE_BYTES, 0xaa), 0, PAGE_BYTES, at)
  }
  closeSync(opened)
}

const PAGE_BYTES = 4096

describe('SQLite that cannot do any work now', () => {
  const open = databases('sqlite')

  it('is damaged when its file is', async () => {
    const file = join(await temporaryFolder(onTestFinished), 'x.db')
    const options = { file, synchronous: 'NORMAL', onSlowStatement: () => {} } as const
    const before = openSqlite(options)
    await before.transaction(async (tx) => {
      await sql`create table "many" ("value" text)`.execute(tx)
      for (let i = 0; i < 200; i += 1) await sql`insert into "many" values (${'much '.repeat(100)})`.execute(tx)
    })
    await before.statement((handle) => sql`pragma wal_checkpoint(truncate)`.execute(handle))
    await before.close()
    damage(file)
    const db = closing(openSqlite(options))
    const insert = db.transaction((tx) => sql`insert into "many" values ('x')`.execute(tx))
    const remedy = expect.stringContaining('restore')
    expect(await failure(insert)).toMatchObject({ name: 'DatabaseUnavailable', outage: 'damaged', remedy })
    expect(await failure(sql`select * from "many"`.execute(db.read))).toMatchObject({ outage: 'damaged' })
  })

  it('is not the reason when the reader is asked to write', async () => {
    const db = await open()
    expect(await failure(setState(db.read, 'x', '1'))).toMatchObject({ code: 'SQLITE_READONLY' })
  })
})
