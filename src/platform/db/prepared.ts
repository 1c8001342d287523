import { sql } from 'kysely'

export const PREPARED_MARK = '/* prepared */'

/**
 * Begins a statement that PostgreSQL parses and plans once per connection instead of at every run. Such statements have few
 * texts and name their columns, because a prepared `select *` fails after a migration adds one.
 */
export const PREPARED = sql.raw(`${PREPARED_MARK} `)

/**
 * Whether PostgreSQL may keep the plan of a statement. Besides marked ones, those for which only one plan makes sense, whatever
 * tables grow to: rows to insert, and rows found by their id.
 */
export function mayBePrepared(text: string): boolean {
  if (text.includes(PREPARED_MARK)) return true
  if (text.includes('*') || text.length > MAX_LENGTH) return false
  if (/^insert into "\w+" \([^()]*\) values /.test(text)) return true
  return /^(select "|update "|delete from ")/.test(text) && BY_ID.test(text) && text.indexOf('select ', 1) === -1
}

const BY_ID = / where "id" = \$\d+( (and|returning|for update) .*| for update)?$/
const MAX_LENGTH = 4000
