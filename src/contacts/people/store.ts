import { sql } from 'kysely'
import type { Tx } from '../../platform/db/index.ts'
import { cleanText } from '../../platform/formats/text.ts'
import type { Ids } from '../../platform/ids.ts'
import { foldText } from '../search-text.ts'
import type { SeenPerson } from './collect.ts'

/** Adds what messages say. The latest name replaces the earlier one. */
export async function savePeople(tx: Tx, ids: Ids, people: readonly SeenPerson[], nowMs: number): Promise<void> {
  for (const { accountId, email, displayName, sent, received, lastAt } of people) {
    const name = cleanText(displayName)
    const row = {
      id: ids('cnt'),
      accountId,
      email: cleanText(email),
      displayName: name,
      sortName: foldText(name === '' ? email : name),
      searchText: foldText(`${name} ${email}`),
      sent,
      received,
      lastAt,
      createdAt: nowMs,
      updatedAt: nowMs,
    }
    const isNamed = name !== ''
    await tx
      .insertInto('correspondents')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['accountId', 'email']).doUpdateSet({
          sent: sql<number>`"correspondents"."sent" + ${sent}`,
          received: sql<number>`"correspondents"."received" + ${received}`,
          lastAt: sql<number>`case when "correspondents"."lastAt" > ${lastAt} then "correspondents"."lastAt" else ${lastAt} end`,
          updatedAt: nowMs,
          ...(isNamed && {
            displayName: newer('displayName', row.displayName, lastAt),
            sortName: newer('sortName', row.sortName, lastAt),
            searchText: newer('searchText', row.searchText, lastAt),
          }),
        }),
      )
      .execute()
  }
}

function newer(column: 'displayName' | 'sortName' | 'searchText', value: string, lastAt: number) {
  const stored = sql.ref(`correspondents.${column}`)
  return sql<string>`case when "correspondents"."lastAt" > ${lastAt} and "correspondents"."displayName" <> '' then ${stored} else ${value} end`
}

/** Deletes what was learnt about these addresses, which turned out to be the account's own. In lower case. */
export async function forgetPeople(tx: Tx, accountId: string, emails: readonly string[]): Promise<void> {
  await tx.deleteFrom('correspondents').where('accountId', '=', accountId).where('email', 'in', emails).execute()
}

/** Deletes up to `limit` rows of a deleted account and returns how many. */
export async function erasePeople(tx: Tx, accountId: string, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('correspondents')
    .select('id')
    .where('accountId', '=', accountId)
    .limit(limit)
    .execute()
  if (rows.length === 0) return 0
  await tx
    .deleteFrom('correspondents')
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute()
  return rows.length
}
