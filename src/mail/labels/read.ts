import { type SqlBool, sql } from 'kysely'

/** The account's main folder, which a list without a label reads: `syncedAs` is `main:…`. Repeats the condition of its index. */
export const isMainFolder = sql<SqlBool>`substr("labels"."syncedAs", 1, 5) = 'main:'`
