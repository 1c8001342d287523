import { sql } from 'kysely'
import { keyIdOf, SealError, type Sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import { invalid } from '../../platform/errors/app-error.ts'
import type { SealedColumn } from '../../platform/secrets/index.ts'

export interface Resealed {
  keyId: string
  /** Rows that were checked. */
  checked: number
  /** Counts the checked rows that had another key, except those that somebody else changed meanwhile. */
  resealed: number
  unreadable: { table: string; id: string; keyId: string }[]
  /** Where to go on; null at the end. */
  next: string | null
}

interface ResealerDeps {
  db: Db
  sealer: Sealer
  columns: readonly SealedColumn[]
}

/** Rows of one call. Of each, only the id of its key is read. */
const CHECKED = 500
/** Rows sealed again in one transaction; one has at most 64 kB, so this takes some milliseconds. */
const RESEALED = 25
/** Ids of keys have at most 32 characters. */
const HEAD_LENGTH = 33

/**
 * Seals rows again with the primary key, page by page in the order of columns and primary keys. A row is written only if its sealed text
 * is still the one that was opened, so that a secret replaced at the same time stays. Keeps no state: `after` is where the last call ended.
 */
export function resealer({ db, sealer, columns }: ResealerDeps): (after: string | undefined) => Promise<Resealed> {
  const columnName = ({ table, column }: SealedColumn) => `${table}.${column}`

  async function heads({ table, key, column, only }: SealedColumn, after: string) {
    const among = only === undefined ? sql`` : sql` and ${sql.ref(key)} in (${sql.join(only)})`
    const query = sql<{ id: string; head: string }>`select ${sql.ref(key)} as "id",
      substr(${sql.ref(column)}, 1, ${sql.lit(HEAD_LENGTH)}) as "head" from ${sql.table(table)}
      where ${sql.ref(column)} is not null and ${sql.ref(key)} > ${after}${among}
      order by ${sql.ref(key)} limit ${sql.lit(CHECKED)}`
    return (await query.execute(db.read)).rows
  }

  /** Undefined when the row is sealed again, or was changed meanwhile; otherwise the key that is missing. */
  async function resealOne({ table, key, column, sealContext }: SealedColumn, id: string): Promise<string | number> {
    const found = await sql<{ sealed: string | null }>`select ${sql.ref(column)} as "sealed" from ${sql.table(table)}
      where ${sql.ref(key)} = ${id}`.execute(db.read)
    const sealed = found.rows[0]?.sealed
    if (sealed === undefined || sealed === null || keyIdOf(sealed) === sealer.primaryKeyId) return 0
    let next: string
    try {
      next = sealer.seal(sealer.open(sealed, sealContext(id)), sealContext(id))
    } catch (error) {
      if (error instanceof SealError) return keyIdOf(sealed)
      throw error
    }
    const { numAffectedRows } = await db.transaction((tx) =>
      sql`update ${sql.table(table)} set ${sql.ref(column)} = ${next}
        where ${sql.ref(key)} = ${id} and ${sql.ref(column)} = ${sealed}`.execute(tx),
    )
    return Number(numAffectedRows ?? 0)
  }

  return async (after) => {
    const { column, id: afterId } = position(after)
    const keyId = sealer.primaryKeyId
    const page = await heads(column, afterId)
    const outdated = page.filter(({ head }) => keyIdOf(head) !== keyId).slice(0, RESEALED)
    const isCut = outdated.length === RESEALED
    const last = isCut ? outdated.at(-1)?.id : page.at(-1)?.id
    const result: Resealed = { keyId, checked: page.length, resealed: 0, unreadable: [], next: null }
    if (isCut) result.checked = page.findIndex(({ id }) => id === last) + 1
    for (const { id } of outdated) {
      const outcome = await resealOne(column, id)
      if (typeof outcome === 'number') result.resealed += outcome
      else result.unreadable.push({ table: column.table, id, keyId: outcome })
    }
    if (isCut || page.length === CHECKED) return { ...result, next: `${columnName(column)}:${last}` }
    const following = columns[columns.indexOf(column) + 1]
    return { ...result, next: following === undefined ? null : `${columnName(following)}:` }
  }

  function position(after: string | undefined): { column: SealedColumn; id: string } {
    const separator = (after ?? '').indexOf(':')
    const name = (after ?? '').slice(0, separator)
    const column = after === undefined ? columns[0] : columns.find((candidate) => columnName(candidate) === name)
    if (column === undefined) throw invalid('body.after', 'must be `next` of an earlier response')
    return { column, id: after === undefined ? '' : after.slice(separator + 1) }
  }
}
