import { sql } from 'kysely'

export const PREPARED_MARK = '/* prepared */'

/**
 * Begins a statement that PostgreSQL parses and plans once per connection instead of at every run. Such statements have few
 * texts and name their columns, because a prepared `select *` fails after a migration adds one.
 */
export const PREPARED = sql.raw(`${PREPARED_MARK} `)
