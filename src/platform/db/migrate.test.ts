import { once } from 'node:events'
import { type Kysely, sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase, emptyPlace } from '../../../test/kit/database/database.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { migrations } from '../../migrations/index.ts'
import { type Db, type Migration, migrateUp, migrationStatus, requireMigrated } from './index.ts'

function creating(name: string, table: string): Migration {
  return {
    name,
    async up(db: Kysely<unknown>) {
      await sql`create table ${sql.table(table)} ("a" integer)`.execute(db)
    },
  }
}

const extra = creating('9000-extra', 'extra')
const more = creating('9001-more', 'more')

const names = migrations.map((migration) => migration.name)

describeEachDatabase('migrations', (databases, engine) => {
  it('create the schema of an empty database in one transaction', async () => {
    const db = await databases(await emptyPlace(databases))
    const commits: (readonly string[])[] = []
    await migrateUp(db, migrations, (applied) => commits.push(applied))
    await migrateUp(db, migrations, (applied) => commits.push(applied))
    expect(commits).toEqual([names])
    expect(await migrationStatus(db, migrations)).toEqual({ applied: names, pending: [], unknown: [] })
  })

  it('leave an empty database empty when the process is killed in the middle', async () => {
    const place = await emptyPlace(databases)
    const child = startWorker('migrating-worker', [place.dataDir, place.databaseUrl ?? ''])
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const db = await databases(place)
    expect(await listTables(db)).toEqual([])
    const commits: (readonly string[])[] = []
    await migrateUp(db, migrations, (applied) => commits.push(applied))
    expect(commits).toEqual([names])
  })

  it('are applied in order, once, and reported', async () => {
    const db = await databases()
    const applied: string[] = []
    const up = () => migrateUp(db, [...migrations, extra, more], (names) => applied.push(...names))
    await up()
    await up()
    expect(applied).toEqual(['9000-extra', '9001-more'])
    expect(await migrationStatus(db, [...migrations, extra, more])).toEqual({
      applied: [...names, '9000-extra', '9001-more'],
      pending: [],
      unknown: [],
    })
  })

  it('are pending until they are applied, and stop a start that must not migrate, naming the command', async () => {
    const db = await databases()
    await expect(requireMigrated(db, migrations)).resolves.toBeUndefined()
    expect((await migrationStatus(db, [...migrations, extra])).pending).toEqual(['9000-extra'])
    await expect(requireMigrated(db, [...migrations, extra])).rejects.toThrow(
      'The database has pending migrations (9000-extra) and AUTO_APPLY_MIGRATIONS is off. Run: posthorn migrate up',
    )
  })

  it('of a newer version are rejected before any change', async () => {
    const db = await databases()
    await migrateUp(db, [...migrations, more], () => {})
    await expect(migrateUp(db, [...migrations, extra], () => {})).rejects.toThrow(
      'The database was migrated by a newer Posthorn (9001-more).',
    )
    await expect(requireMigrated(db, migrations)).rejects.toThrow('newer Posthorn (9001-more)')
    expect((await migrationStatus(db, [...migrations, extra, more])).applied).not.toContain('9000-extra')
  })

  it('of a newer version that only add are accepted, so that replicas of both versions run and start side by side', async () => {
    const db = await databases()
    const adding: Migration = { ...more, name: '9001-expand-more' }
    await migrateUp(db, [...migrations, adding], () => {})
    await expect(requireMigrated(db, migrations)).resolves.toBeUndefined()
    await migrateUp(db, [...migrations, extra], () => {})
    expect(await migrationStatus(db, [...migrations, extra])).toMatchObject({ pending: [], unknown: [] })
  })

  it('of before the first release are rejected before any change', async () => {
    const db = await databases()
    await db.transaction(async (tx) => {
      await tx.deleteFrom('migrations').execute()
      await tx.insertInto('migrations').values({ name: '0001-main-job', appliedAt: 1 }).execute()
    })
    const before = await listTables(db)
    for (const start of [() => migrateUp(db, migrations, () => {}), () => requireMigrated(db, migrations)]) {
      await expect(start()).rejects.toThrow(
        /^The database is from before the first release of Posthorn and cannot be upgraded\. Start with an empty one: another DATA_DIR, or another database in DATABASE_URL\.$/,
      )
    }
    expect((await migrationStatus(db, migrations)).unknown).toEqual(['0001-main-job'])
    expect(await listTables(db)).toEqual(before)
  })

  it('that fail leave no changes', async () => {
    const db = await databases()
    const broken: Migration = {
      name: '9002-broken',
      async up(handle) {
        await sql`create table "half" ("a" integer)`.execute(handle)
        await sql`select * from "nowhere"`.execute(handle)
      },
    }
    await expect(migrateUp(db, [...migrations, broken], () => {})).rejects.toThrow(/nowhere/)
    await expect(sql`select * from "half"`.execute(db.read)).rejects.toThrow(/half/)
    expect((await migrationStatus(db, [...migrations, broken])).pending).toEqual(['9002-broken'])
  })

  if (engine === 'postgres') {
    it('of replicas that start together are applied once', async () => {
      const place = await databases.place()
      const replicas = await Promise.all([1, 2, 3, 4].map(() => databases(place)))
      // A replica may report its commit after the next one has run, so the calls have no order.
      const applied: string[] = []
      await Promise.all(
        replicas.map((db) => migrateUp(db, [...migrations, extra, more], (names) => applied.push(...names))),
      )
      expect(applied.sort()).toEqual(['9000-extra', '9001-more'])
    })

    it('of replicas that start together on an empty database are applied once', async () => {
      const place = await emptyPlace(databases)
      const replicas = await Promise.all([1, 2, 3].map(() => databases(place)))
      const commits: (readonly string[])[] = []
      await Promise.all(replicas.map((db) => migrateUp(db, migrations, (applied) => commits.push(applied))))
      expect(commits).toEqual([names])
    })
  }
})

async function listTables(db: Db): Promise<string[]> {
  const tables =
    db.engine === 'postgres'
      ? sql<{ name: string }>`select tablename as "name" from pg_tables where schemaname = 'public' order by 1`
      : sql<{ name: string }>`select "name" from sqlite_master where type = 'table' order by 1`
  return (await tables.execute(db.read)).rows.map(({ name }) => name)
}
