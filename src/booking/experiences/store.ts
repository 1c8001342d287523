import { sql, type Updateable } from 'kysely'
import type { Dialect, Handle, Tables } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { ExperienceRow } from '../tables.ts'

const ALL = 'experiences'

/** Reads and writes experiences. The methods that write need a `Tx`. */
export function experienceStore(handle: Handle) {
  const all = () => handle.selectFrom(ALL).selectAll()
  return {
    /** In order of their ids, oldest first; one more than `limit`, if it exists. */
    page({ after, offset, limit }: { after?: string; offset: number; limit: number }): Promise<ExperienceRow[]> {
      return all()
        .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
        .orderBy('id')
        .limit(limit + 1)
        .offset(offset)
        .execute()
    },

    async count(): Promise<number> {
      const { count } = await handle
        .selectFrom(ALL)
        .select(sql<number | string>`count(*)`.as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    find: (slug: string): Promise<ExperienceRow | undefined> => all().where('slug', '=', slug).executeTakeFirst(),

    findById: (id: string): Promise<ExperienceRow | undefined> => all().where('id', '=', id).executeTakeFirst(),

    /** With the row locked until the transaction ends. Throws not_found. */
    async lock(slug: string, dialect: Dialect): Promise<ExperienceRow> {
      const row = await all().where('slug', '=', slug).modifyEnd(dialect.forUpdate).executeTakeFirst()
      return row ?? missing(slug)
    },

    /** False when the slug is taken. */
    async insert(row: ExperienceRow): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await handle
        .insertInto(ALL)
        .values(row)
        .onConflict((conflict) => conflict.column('slug').doNothing())
        .executeTakeFirst()
      return numInsertedOrUpdatedRows === 1n
    },

    async update(id: string, changes: Updateable<Tables['experiences']>): Promise<void> {
      await handle.updateTable(ALL).set(changes).where('id', '=', id).execute()
    },
  }
}

/** 404 for guests and for the application alike. */
export function missing(slug: string): never {
  throw new AppError('not_found', { message: `There is no experience with the slug "${slug.slice(0, 100)}".` })
}
