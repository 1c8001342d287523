import { onTestFinished } from 'vitest'
import { type MessageRow, messageStore, threadRoutes } from '../../../src/mail/messages/index.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import { testServer } from '../http/server.ts'
import { searching } from './searching.ts'

/** An account whose messages are written straight to the database, and requests for its threads. */
export async function openThreads(db: Db, provider: 'imap' | 'gmail' = 'imap') {
  const { composition, mailbox } = searching(db)
  const { accountId, labels, change, buildRow } = await mailbox(provider)
  const app = testServer()
  threadRoutes(app, { threads: composition.features.threads })
  await app.ready()
  onTestFinished(() => app.close())
  const send = (path: string, key = 'good') =>
    app.inject({ url: `/accounts/${accountId}${path}`, headers: { authorization: `Bearer ${key}` } })
  return {
    send,
    get: async (path: string) => JSON.parse((await send(path)).body),
    composition,
    box: { accountId, labels, app, write: change, row: buildRow },
  }
}

/** The messages that are not missing. */
export async function present(db: Db, accountId: string): Promise<MessageRow[]> {
  const rows = await db.read
    .selectFrom('messages')
    .select('id')
    .where('accountId', '=', accountId)
    .where('goneAt', 'is', null)
    .execute()
  return messageStore(db.read).byIds(rows.map((row) => row.id))
}

/** The threads of a label by the messages themselves, newest first. */
export async function expectedThreads(db: Db, accountId: string, labelId: string): Promise<string[]> {
  const rows = await db.read
    .selectFrom('messageLabels')
    .innerJoin('messages', 'messages.id', 'messageLabels.messageId')
    .select(['threadId', 'messages.receivedAt'])
    .where('labelId', '=', labelId)
    .where('accountId', '=', accountId)
    .execute()
  const last = new Map<string, number>()
  for (const { threadId, receivedAt } of rows) {
    if (threadId !== null) last.set(threadId, Math.max(last.get(threadId) ?? 0, receivedAt))
  }
  return [...last].sort(([a, at], [b, bt]) => bt - at || (a < b ? 1 : -1)).map(([threadId]) => threadId)
}
