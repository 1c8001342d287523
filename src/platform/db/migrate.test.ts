import { type Kysely, sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { migrations } from '../../migrations/index.ts'
import { type Migration, migrateUp, migrationStatus, requireMigrated } from './index.ts'

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

describeEachDatabase('migrations', (databases, engine) => {
  it('are applied in order, once, and reported', async () => {
    const db = await databases()
    const applied: string[] = []
    const up = () => migrateUp(db, [...migrations, extra, more], (name) => applied.push(name))
    await up()
    await up()
    expect(applied).toEqual(['9000-extra', '9001-more'])
    expect(await migrationStatus(db, [...migrations, extra, more])).toEqual({
      applied: [...migrations.map((migration) => migration.name), '9000-extra', '9001-more'],
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
      await Promise.all(replicas.map((db) => migrateUp(db, [...migrations, extra, more], (name) => applied.push(name))))
      expect(applied.sort()).toEqual(['9000-extra', '9001-more'])
    })

    it('of replicas that start together on an empty database are applied once', async () => {
      const place = await databases.place()
      const replicas = await Promise.all([1, 2, 3].map(() => databases(place)))
      await sql`drop schema public cascade`.execute(replicas[0]?.read ?? never())
      await sql`create schema public`.execute(replicas[0]?.read ?? never())
      const applied: string[] = []
      await Promise.all(replicas.map((db) => migrateUp(db, migrations, (name) => applied.push(name))))
      expect(applied.sort()).toEqual(migrations.map((migration) => migration.name).sort())
    })
  }
})

function never(): never {
  throw new Error('there is no replica')
}
