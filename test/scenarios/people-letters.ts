import { type Db, insertRows } from '../../src/platform/db/index.ts'
import { idGenerator } from '../../src/platform/ids.ts'
import { systemClock } from '../../src/platform/time/clock.ts'

const ids = idGenerator(systemClock)
const SENDERS = 40

/** Stores messages as sync does, with ids in the order of their arrival, from some people in turn. */
export async function storeLetters(db: Db, accountId: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => ({
    id: ids('msg'),
    accountId,
    providerMessageId: ids('req'),
    headerHash: '',
    subject: '',
    receivedAt: n,
    unread: 0,
    starred: 0,
    hasAttachments: 0,
    sizeBytes: 0,
    snippet: '',
    text: '',
    fields: JSON.stringify({ from: { name: '', email: sender(n) }, to: [], cc: [], bcc: [] }),
    confirmations: 0,
    version: 1,
    createdAt: n,
    updatedAt: n,
  }))
  await db.transaction((tx) => insertRows(tx, 'messages', rows))
}

const sender = (n: number) => `person${n % SENDERS}@acme.example`

/** How many messages of each person were counted. */
export async function countedPeople(db: Db): Promise<Record<string, number>> {
  const rows = await db.read.selectFrom('correspondents').select(['email', 'received']).execute()
  return Object.fromEntries(rows.map(({ email, received }) => [email, Number(received)]))
}

/** How many messages of each person are stored. */
export async function storedLetters(db: Db): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { fields } of await db.read.selectFrom('messages').select('fields').execute()) {
    const { email } = JSON.parse(fields).from
    counts[email] = (counts[email] ?? 0) + 1
  }
  return counts
}
