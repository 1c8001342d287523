import { type RawBuilder, sql } from 'kysely'
import { labelStore } from '../src/mail/labels/index.ts'
import { mailHorizons } from '../src/mail/messages/index.ts'
import type { Db, Tx } from '../src/platform/db/index.ts'
import { idGenerator } from '../src/platform/ids.ts'
import { systemClock } from '../src/platform/time/clock.ts'
import { type SeededMailbox, seedAccount } from './message-seed.ts'

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
const DIGITS_OF_MARK = 3

/**
 * Copies an account and its messages inside the database, which takes a fraction of storing them one by one. Each copy has an
 * `index` of its own, from 1 to 32,767. Returns the id of the copy.
 */
export async function copyAccount(
  db: Db,
  { accountId, folderId }: Pick<SeededMailbox, 'accountId' | 'folderId'>,
  index: number,
): Promise<string> {
  const ids = idGenerator(systemClock)
  const copyId = await seedAccount(db, `user${index}`)
  const copyFolderId = ids('lbl')
  const mark = markOf(index)
  const marked = (column: RawBuilder<unknown>) =>
    sql`substr(${column}, 1, 4) || ${mark} || substr(${column}, ${sql.lit(5 + mark.length)})`
  const [messageId, threadId] = [marked(sql`"m"."id"`), marked(sql`"m"."threadId"`)]
  const inFolder = (column: RawBuilder<unknown>) =>
    sql`replace(${column}, cast(${folderId} as text), cast(${copyFolderId} as text))`
  const text = inFolder(
    sql`replace(replace("t"."text", "m"."id", ${messageId}), coalesce("m"."threadId", '-'), coalesce(${threadId}, '-'))`,
  )
  await db.transaction(async (tx) => {
    const folder = await labelStore(tx).byIds([folderId])
    await labelStore(tx).insert([...folder.values()].map((row) => ({ ...row, id: copyFolderId, accountId: copyId })))
    await mailHorizons(tx).save({ accountId: copyId, scopeId: copyFolderId, storedSince: 0 })
    await copyRows(tx, 'messages', sql`"messages" as "m" where "m"."accountId" = ${accountId}`, {
      id: messageId,
      accountId: sql`${copyId}`,
      folderId: sql`${copyFolderId}`,
      threadId,
      providerMessageId: inFolder(sql`"providerMessageId"`),
    })
    const listed = sql`"messageLabels" as "l" join "messages" as "m" on "m"."id" = "l"."messageId" where "labelId" = ${folderId}`
    await copyRows(tx, 'messageLabels', listed, {
      labelId: sql`${copyFolderId}`,
      messageId,
      receivedAt: sql`"l"."receivedAt"`,
      unread: sql`"l"."unread"`,
      hasAttachments: sql`"l"."hasAttachments"`,
    })
    const texts = sql`"messageTexts" as "t" join "messages" as "m" on "m"."id" = "t"."messageId" where "m"."accountId" = ${accountId}`
    await copyRows(tx, 'messageTexts', texts, { messageId, folderId: sql`${copyFolderId}`, text })
    await copyRows(tx, 'messageCounters', sql`"messageCounters" where "accountId" = ${accountId}`, {
      accountId: sql`${copyId}`,
      labelId: sql`${copyFolderId}`,
    })
    const threads = sql`(select *, "threadId" as "id" from "threadLabels") as "m" where "labelId" = ${folderId}`
    await copyRows(tx, 'threadLabels', threads, { labelId: sql`${copyFolderId}`, threadId })
  })
  return copyId
}

/** Copies rows with all their columns, some of them replaced. */
async function copyRows(
  tx: Tx,
  table: 'messages' | 'messageLabels' | 'messageTexts' | 'messageCounters' | 'threadLabels',
  from: RawBuilder<unknown>,
  replaced: Record<string, RawBuilder<unknown>>,
): Promise<void> {
  const row = await tx.selectFrom(table).selectAll().limit(1).executeTakeFirst()
  const columns = Object.keys(row ?? {})
  const values = columns.map((column) => replaced[column] ?? sql.id(column))
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.id(column)))})
    select ${sql.join(values)} from ${from}`.execute(tx)
}

/** Takes the place of the first characters of an id. Ids begin with the time, so none that was generated begins with it. */
function markOf(index: number): string {
  let digits = ''
  for (let rest = index; digits.length < DIGITS_OF_MARK; rest = Math.floor(rest / DIGITS.length)) {
    digits = DIGITS.charAt(rest % DIGITS.length) + digits
  }
  return `y${digits}`
}
