import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../test/kit/eventually.ts'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { type Client, client } from '../test/scenarios/client.ts'
import { createAccounts, numberedMessage, PASSWORD, userNames } from '../test/scenarios/mailboxes.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { connectBare } from './bare-imap.ts'
import { inTurns } from './rounds.ts'
import { judge, sayVerdict } from './verdict.ts'

const MESSAGES = Number(process.env.BENCH_ROWS ?? 10_000)
const CASES = [
  { accounts: 1, limit: { ratioAtMost: 2 } },
  { accounts: 10, limit: { ratioAtMost: 1.7 } },
]
const LISTED_AT_ONCE = 200

/**
 * The first sync of one mailbox, and of ten at once, by a service that has just started, compared with as many bare imapflow clients in
 * one process that fetch the same items. Every message is compared with the expected one.
 */
export async function fullSync(say: (line: string) => void): Promise<void> {
  const dovecot = await startDovecot()
  try {
    const users = userNames(Math.max(...CASES.map(({ accounts }) => accounts)))
    for (const user of users) {
      await dovecot.addUser(user, PASSWORD)
      await dovecot.deliverMany(user, rawMessages())
    }
    for (const { accounts, limit } of CASES) {
      const chosen = users.slice(0, accounts)
      const compared = await inTurns(
        () => syncAll(dovecot, chosen),
        () => fetchAll(dovecot, chosen),
      )
      const count = `${MESSAGES.toLocaleString('en')} messages`
      const what = accounts === 1 ? `${count} of one account` : `${count} of each of ${accounts} accounts`
      sayVerdict(say, judge({ bench: 'full-sync', what, unit: 'ms', limit }, compared))
    }
  } finally {
    await dovecot.stop()
  }
}

/** Milliseconds from the first account's creation until the messages of all are listed. */
async function syncAll(dovecot: Dovecot, users: readonly string[]): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const service = await startServiceProcess({ dataDir, env: { SYNC_INITIAL_MESSAGES: String(MESSAGES) } })
  try {
    const api = client(service.url, service.key)
    const startedMs = performance.now()
    const accounts = await createAccounts(api, dovecot, users)
    for (const accountId of accounts.values()) await eventually(() => hasAll(api, accountId), 600_000, 20)
    const tookMs = performance.now() - startedMs
    for (const accountId of accounts.values()) await checkContent(api, accountId)
    return tookMs
  } finally {
    await service.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

interface MessagePage {
  messages: { subject: string; snippet: string }[]
  pagination: { total: number }
}

async function hasAll(api: Client, accountId: string): Promise<boolean> {
  const { pagination } = await api.call<MessagePage>('GET', `/accounts/${accountId}/messages?limit=1`)
  return pagination.total === MESSAGES
}

async function checkContent(api: Client, accountId: string): Promise<void> {
  const found: string[] = []
  for (let page = 1; found.length < MESSAGES; page += 1) {
    const path = `/accounts/${accountId}/messages?limit=${LISTED_AT_ONCE}&page=${page}`
    const { messages } = await api.call<MessagePage>('GET', path)
    if (messages.length === 0) break
    found.push(...messages.map(({ subject, snippet }) => `${subject} ${snippet}`))
  }
  const expected = subjects().map((subject) => `${subject} This is ${subject}.`)
  if (digest(found) !== digest(expected)) throw new Error('The service did not store the messages that were delivered.')
}

async function fetchAll(dovecot: Dovecot, users: readonly string[]): Promise<number> {
  const startedMs = performance.now()
  const counts = await Promise.all(users.map((user) => fetchBare(dovecot, user)))
  const wrong = counts.find((count) => count !== MESSAGES)
  if (wrong !== undefined) throw new Error(`A bare client fetched ${wrong} messages instead of ${MESSAGES}.`)
  return performance.now() - startedMs
}

async function fetchBare({ host, imapsPort }: Dovecot, user: string): Promise<number> {
  const client = await connectBare({ host, port: imapsPort, user, password: PASSWORD })
  await client.mailboxOpen('INBOX')
  const items = { uid: true, envelope: true, bodyStructure: true, flags: true, internalDate: true, size: true }
  const parts = { headers: true, bodyParts: [{ key: '1', start: 0, maxLength: 4096 }] }
  let count = 0
  for await (const _message of client.fetch('1:*', { ...items, ...parts })) count += 1
  await client.logout()
  return count
}

const subjects = () => Array.from({ length: MESSAGES }, (_, index) => `full-${index}`)

function* rawMessages(): Iterable<Buffer> {
  for (const subject of subjects()) yield Buffer.from(numberedMessage(subject))
}

const digest = (lines: readonly string[]) =>
  createHash('sha256')
    .update([...lines].sort().join('\n'))
    .digest('hex')
