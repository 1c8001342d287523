import { sql } from 'kysely'
import { databaseStore } from '../../src/accounts/cluster/index.ts'
import { migrations } from '../../src/migrations/index.ts'
import { type Db, migrateUp } from '../../src/platform/db/index.ts'
import { openPostgres } from '../../src/platform/db/postgres/postgres.ts'
import { testAccounts } from '../../test/kit/accounts/accounts.ts'
import type { StatementCosts } from '../../test/kit/cluster/simulated-database.ts'
import { administer, databaseUrl, findServer } from '../../test/kit/database/postgres-server.ts'
import { median } from '../figures.ts'

const ACCOUNTS = Number(process.env.BENCH_ROWS ?? 200_000)
const INSTANCES = 1000
const CALLS = 30
const ME = 'ins_00001'
/** Of the server that the simulation assumes: in the same data centre, with a core for each of so many statements. */
const NETWORK = { roundTripMs: 0.5, cores: 16 }

/** Without a server: as measured on two busy cores. */
export const MEASURED: StatementCosts = {
  statementMs: 0.18,
  readRowMs: 0.0012,
  countedRowMs: 0.00013,
  lookupMs: 0.0074,
  lockMs: 0.002,
  writtenRowMs: 0.04,
  ...NETWORK,
}

/**
 * Measures the statements of ownership on PostgreSQL with many accounts and 1,000 instances, one at a time, over a socket of this machine.
 * Times include the driver. Undefined where PostgreSQL cannot be started.
 */
export async function measureStatements(say: (line: string) => void): Promise<StatementCosts | undefined> {
  const server = await findServer()
  if (server === undefined) return undefined
  const name = `posthorn_bench_${process.pid}`
  try {
    await administer(server.url, `create database "${name}"`)
    const db = openPostgres({
      url: databaseUrl(server.url, name),
      maxConnections: 2,
      onError: console.error,
      hasTimeouts: false,
    })
    await migrateUp(db, migrations, () => {})
    await insertAccounts(db)
    const costs = await measure(db, say)
    await db.close()
    await administer(server.url, `drop database "${name}" with (force)`)
    return costs
  } finally {
    await server.stop()
  }
}

async function measure(db: Db, say: (line: string) => void): Promise<StatementCosts> {
  const store = databaseStore(db)
  const time = async (title: string, call: () => Promise<unknown>) => {
    const times: number[] = []
    for (let count = 0; count < CALLS; count += 1) {
      const startedMs = performance.now()
      await call()
      times.push(performance.now() - startedMs)
    }
    say(`  ${title.padEnd(44)} ${median(times).toFixed(2)} ms`)
    return median(times)
  }
  const state = { syncTotals: null, lockKey: 'lock', ownedAccounts: undefined }
  say(
    `statements on PostgreSQL with ${ACCOUNTS.toLocaleString('en')} accounts and ${INSTANCES} instances, medians of ${CALLS}:`,
  )
  const empty = await time('an empty statement', () => sql`select 1`.execute(db.read))
  await time('heartbeat', () => store.beat(ME, state))
  const instances = await time('read the instances', () => store.instances())
  await time('look for an account without an owner', () => store.hasUnowned())
  const shares = await time('read the shares', () => store.shares(20 * INSTANCES))
  await time('read the own accounts', () => readAll(store.mine(ME)))
  const counted = await time('count the accounts of all, by owner', () => countAll(db))
  const moved = await time('give back 200 accounts, then take them', async () => {
    await store.giveBack(ME, 200)
    await store.take(ME, 200)
  })
  const locks = await readLocks(db, time)
  return {
    statementMs: empty,
    readRowMs: (instances - empty) / INSTANCES,
    countedRowMs: (counted - empty) / ACCOUNTS,
    lookupMs: (shares - instances) / INSTANCES,
    lockMs: (locks - empty) / INSTANCES,
    // Ten statements.
    writtenRowMs: (moved - 10 * empty) / 400,
    ...NETWORK,
  }
}

/** As many locks as instances, on one connection. */
function readLocks(db: Db, time: (title: string, call: () => Promise<unknown>) => Promise<number>): Promise<number> {
  return db.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock_shared(7, "key") from generate_series(1, ${sql.lit(INSTANCES)}) as "key"`.execute(
      tx,
    )
    return time('read the locks', () =>
      sql`select objid::text as key from pg_locks where locktype = 'advisory' and classid = 7 and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())`.execute(db.read),
    )
  })
}

async function readAll(pages: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of pages);
}

const countAll = (db: Db) =>
  db.read
    .selectFrom('accounts')
    .select(['ownerInstance', (eb) => eb.fn.countAll().as('count')])
    .groupBy('ownerInstance')
    .execute()

/** Copies of one account, and instances that own equal numbers of them. */
async function insertAccounts(db: Db): Promise<void> {
  await testAccounts(db).link()
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns where table_name = 'accounts' and table_schema = 'public'`.execute(
    db.read,
  )
  const copied: Record<string, string> = {
    id: `'acc_' || lpad(n::text, 8, '0')`,
    identity: `'imap:' || n`,
    email: `'user-' || n || '@example.com'`,
    providerUser: `'user-' || n`,
    searchText: `'user-' || n || '@example.com'`,
    ownerInstance: `'ins_' || lpad((n % ${INSTANCES} + 1)::text, 5, '0')`,
  }
  const names = rows.map(({ name }) => `"${name}"`).join(', ')
  const values = rows.map(({ name }) => copied[name] ?? `"${name}"`).join(', ')
  await db.transaction(async (tx) => {
    await sql`create temporary table one on commit drop as select * from "accounts"`.execute(tx)
    await sql`delete from "accounts"`.execute(tx)
    await sql
      .raw(`insert into "accounts" (${names}) select ${values} from one, generate_series(1, ${ACCOUNTS}) as n`)
      .execute(tx)
    await sql
      .raw(`insert into "instances" ("id", "heartbeatAt", "startedAt", "lockKey", "ownedAccounts")
      select 'ins_' || lpad(n::text, 5, '0'), 4102444800000, 0, 'lock', ${ACCOUNTS / INSTANCES} from generate_series(1, ${INSTANCES}) as n`)
      .execute(tx)
  })
  await sql`vacuum analyze "accounts"`.execute(db.read)
  await sql`vacuum analyze "instances"`.execute(db.read)
}
