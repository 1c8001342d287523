import { type CreateTableBuilder, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Db } from '../../platform/db/index.ts'

export type Column = [name: string, type: 'text' | 'integer' | 'bigint', options?: 'null' | `default ${number}`]

/** Helpers for the table definitions of this migration. Columns are not null by default. */
export interface Schema {
  table(title: string, columns: Column[], key: string[], withoutRowid?: boolean): Promise<void>
  index(on: string, columns: string[], options?: { unique?: boolean; where?: string }): Promise<void>
  run(statement: RawBuilder<unknown>): Promise<void>
}

export function schema(db: Kysely<unknown>, engine: Db['engine']): Schema {
  return {
    table: (title, columns, key, withoutRowid = false) =>
      createTable(db, title, columns, key, withoutRowid && engine === 'sqlite'),
    index: (on, columns, options = {}) => createIndex(db, on, columns, options),
    async run(statement) {
      await statement.execute(db)
    },
  }
}

async function createTable(
  db: Kysely<unknown>,
  title: string,
  columns: Column[],
  key: string[],
  withoutRowid: boolean,
): Promise<void> {
  let builder: CreateTableBuilder<string, string> = db.schema.createTable(title)
  for (const [column, type, options] of columns) {
    builder = builder.addColumn(column, type, (definition) => {
      if (options === 'null') return definition
      return options === undefined
        ? definition.notNull()
        : definition.notNull().defaultTo(Number(options.slice('default '.length)))
    })
  }
  builder = builder.addPrimaryKeyConstraint(`${title}_key`, key)
  await (withoutRowid ? builder.modifyEnd(sql`without rowid`) : builder).execute()
}

async function createIndex(
  db: Kysely<unknown>,
  on: string,
  columns: string[],
  options: { unique?: boolean; where?: string },
): Promise<void> {
  const title = [on, ...columns, ...(options.where === undefined ? [] : ['partial'])].join('_')
  const unique = options.unique ? sql`unique` : sql``
  const where = options.where === undefined ? sql`` : sql.raw(` where ${options.where}`)
  await sql`create ${unique} index ${sql.id(title)} on ${sql.id(on)} (${sql.join(columns.map((column) => sql.id(column)))})${where}`.execute(
    db,
  )
}
