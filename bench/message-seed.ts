import { labelStore, newLabelRow } from '../src/mail/labels/index.ts'
import { incomingRow, type MessageRow, mailHorizons } from '../src/mail/messages/index.ts'
import { newMessageRow } from '../src/mail/messages/rows/row.ts'
import { messageWriter } from '../src/mail/messages/rows/writer.ts'
import { sealer } from '../src/platform/crypto/seal.ts'
import type { Db } from '../src/platform/db/index.ts'
import { idGenerator } from '../src/platform/ids.ts'
import { systemClock } from '../src/platform/time/clock.ts'
import type { RemoteMessage } from '../src/providers/contract/index.ts'
import { testAccounts } from '../test/kit/accounts/accounts.ts'
import { TEST_KEYS } from '../test/kit/service/composition.ts'

const ROWS_PER_TRANSACTION = 500
const FIRST_RECEIVED_MS = Date.UTC(2024, 0, 1)

export interface SeededMailbox {
  accountId: string
  folderId: string
  newestFirst: { id: string; subject: string }[]
}

/** Stores a paused account with messages in its main folder, as sync does. `buildContent` replaces parts of the typical message. */
export async function seedMessages(
  db: Db,
  count: number,
  buildContent: (uid: number) => Partial<RemoteMessage> = () => ({}),
): Promise<SeededMailbox> {
  return seedInbox(db, await seedAccount(db), count, buildContent)
}

export async function seedInbox(
  db: Db,
  accountId: string,
  count: number,
  buildContent: (uid: number) => Partial<RemoteMessage> = () => ({}),
): Promise<SeededMailbox> {
  return seedFolder(db, accountId, { path: 'INBOX', role: 'inbox', syncedAs: 'main:INBOX' }, count, buildContent)
}

/** Stores a paused account. `user`: part of its address, which no other account has. Returns its id. */
export async function seedAccount(db: Db, user?: string): Promise<string> {
  const { accounts, link } = testAccounts(db, { sealer: sealer(TEST_KEYS) })
  const identity = user === undefined ? {} : { email: `${user}@example.com`, providerUser: `["bench","${user}"]` }
  const { id: accountId } = await link(identity)
  await db.transaction((tx) => accounts.change(tx, accountId, { paused: true }))
  return accountId
}

/** Stores a folder of the account with messages. */
export async function seedFolder(
  db: Db,
  accountId: string,
  { path, role, syncedAs }: { path: string; role: 'inbox' | 'drafts'; syncedAs: string },
  count: number,
  buildContent: (uid: number) => Partial<RemoteMessage> = () => ({}),
): Promise<SeededMailbox> {
  const ids = idGenerator(systemClock)
  const nowMs = systemClock.now()
  const folder = {
    ...newLabelRow(
      { path, name: path, role, delimiter: '/', mailboxId: null, selectable: true },
      { id: ids('lbl'), accountId, provider: 'imap', nowMs },
    ),
    syncedAs,
  }
  await db.transaction(async (tx) => {
    await labelStore(tx).insert([folder])
    await mailHorizons(tx).save({ accountId, scopeId: folder.id, storedSince: 0 })
  })
  const stored: { id: string; subject: string }[] = []
  for (let start = 1; start <= count; start += ROWS_PER_TRANSACTION) {
    const rows: MessageRow[] = []
    for (let uid = start; uid < Math.min(start + ROWS_PER_TRANSACTION, count + 1); uid += 1) {
      const incoming = incomingRow(
        { ...buildMessage(uid), ...buildContent(uid) },
        { accountId, labelId: folder.id, nowMs },
      )
      rows.push(newMessageRow(incoming, { accountId, labelId: folder.id, id: ids('msg'), nowMs }))
    }
    await db.transaction((tx) => messageWriter(tx, { dialect: db.dialect, accountId, nowMs }).insert(rows))
    stored.push(...rows.map(({ id, subject }) => ({ id, subject })))
  }
  return { accountId, folderId: folder.id, newestFirst: stored.reverse() }
}

/** A typical message: several recipients, a thread, one to four kB of text, now and then an attachment. */
function buildMessage(uid: number): RemoteMessage {
  const paragraph = `Dear Grace, here are the figures of week ${uid}. ${uid % 4 === 0 ? 'Viele Grüße – ' : ''}We meet on Monday. `
  const text = paragraph.repeat(10 + (uid % 30))
  return {
    location: { uidValidity: '1700000000', uid },
    providerMessageId: null,
    isNew: true,
    emailId: null,
    threadId: null,
    messageId: `<${uid}.report@mail.example.com>`,
    inReplyTo: `<${uid - 1}.report@mail.example.com>`,
    references: [`<${uid - 2}.report@mail.example.com>`, `<${uid - 1}.report@mail.example.com>`],
    subject: `Re: Figures of week ${uid} and the next steps`,
    from: { name: 'Ada Lovelace', email: 'ada@example.com' },
    to: [
      { name: 'Grace Hopper', email: 'grace@example.com' },
      { name: '', email: 'team@example.com' },
    ],
    cc: uid % 3 === 0 ? [{ name: 'Alan Turing', email: 'alan@example.com' }] : [],
    bcc: [],
    replyTo: [],
    date: FIRST_RECEIVED_MS + uid * 60_000 - 2000,
    receivedAt: FIRST_RECEIVED_MS + uid * 60_000,
    sizeBytes: 4000 + (uid % 5000),
    unread: uid % 5 === 0,
    starred: uid % 50 === 0,
    snippet: text.slice(0, 200),
    text,
    attachments:
      uid % 5 === 0
        ? [
            {
              id: '2',
              filename: `week-${uid}.pdf`,
              contentType: 'application/pdf',
              sizeBytes: 48_213,
              inline: false,
              contentId: null,
            },
          ]
        : [],
    headerHash: `header-${uid}`,
    error: null,
  }
}
