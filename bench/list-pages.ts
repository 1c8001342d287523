import type { Db } from '../src/platform/db/index.ts'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { copyAccount } from './copied-account.ts'
import { type SeededMailbox, seedAccount, seedInbox, seedMessages } from './message-seed.ts'
import type { Place } from './stores.ts'

export const LIMIT = 50
/** Pages by cursor that fit in the memory of the service. */
const DEEP_PAGES = 20
/** More pages than the service keeps in memory, so that each is read from the store. */
export const STORED_PAGES = 450
const COPIED_MESSAGES = 5_000

/** A page, and the bytes that the response must have. */
export type Expected = { path: string; body: string }

/** Accounts that only fill the tables. */
interface Others {
  accountIds: string[]
  /** The folder of the first account, which the others are copies of. */
  folderId: string
  /** The same in each account. */
  newestFirst: readonly { subject: string }[]
}

/** The account whose pages are listed, and those that only fill the tables. */
export interface ListSeed {
  mailbox: SeededMailbox
  others?: Others
}

/** Adds to what was seeded before. The others have 5,000 messages each, copied until all accounts together have `total`. */
export async function seedForList(
  db: Db,
  { messages, total }: { messages: number; total: number },
  earlier?: ListSeed,
): Promise<ListSeed> {
  const mailbox = earlier?.mailbox ?? (await seedMessages(db, messages))
  const rest = total - mailbox.newestFirst.length
  if (rest < COPIED_MESSAGES) return { mailbox }
  const others = earlier?.others ?? (await seedFirstOther(db))
  const first = { accountId: others.accountIds[0] ?? '', folderId: others.folderId }
  while ((others.accountIds.length + 1) * COPIED_MESSAGES <= rest) {
    others.accountIds.push(await copyAccount(db, first, others.accountIds.length))
  }
  await db.transaction((tx) => tx.deleteFrom('unindexedMessages').execute())
  return { mailbox, others }
}

async function seedFirstOther(db: Db): Promise<Others> {
  const { accountId, folderId, newestFirst } = await seedInbox(db, await seedAccount(db, 'other'), COPIED_MESSAGES)
  return { accountIds: [accountId], folderId, newestFirst }
}

/** The index of an empty store is complete, so nothing that is stored afterwards by SQL is indexed: the mailboxes are at rest. */
export async function completeSearchIndex(place: Place): Promise<void> {
  const service = await startServiceProcess({ ...place })
  await service.stop()
}

interface Server {
  url: string
  key: string
}

interface ListBody {
  messages: { id: string; subject: string }[]
  pagination: { total: number; nextCursor?: string }
}

/** The first pages of other accounts, which are spread over the table. */
export async function readOthers({ url, key }: Server, others: Others | undefined): Promise<Expected[]> {
  if (others === undefined) return []
  const { accountIds, newestFirst } = others
  const expected = newestFirst.slice(0, LIMIT).map(({ subject }) => subject)
  const step = Math.max(1, Math.floor(accountIds.length / STORED_PAGES))
  const pages: Expected[] = []
  for (const accountId of accountIds.filter((_, index) => index % step === 0).slice(0, STORED_PAGES)) {
    const path = `/accounts/${accountId}/messages?limit=${LIMIT}`
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
    const body = await response.text()
    const subjects = (JSON.parse(body) as ListBody).messages.map(({ subject }) => subject)
    if (subjects.join() !== expected.join()) throw new Error(`The first page of ${accountId} has other messages.`)
    pages.push({ path, body })
  }
  return pages
}

/** Reads pages of one account and compares their ids and their content with what was stored. `stored` are deep ones too. */
export async function readPages(
  { url, key }: Server,
  { accountId, newestFirst }: SeededMailbox,
): Promise<{ first: Expected[]; deep: Expected[]; stored: Expected[] }> {
  const base = `/accounts/${accountId}/messages?limit=${LIMIT}`
  const read = async (path: string, page: number) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
    const body = await response.text()
    const { messages, pagination }: ListBody = JSON.parse(body)
    const expected = newestFirst.slice((page - 1) * LIMIT, page * LIMIT)
    const found = messages.map(({ id, subject }) => ({ id, subject }))
    if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`Page ${page} has other messages.`)
    if (pagination.total !== newestFirst.length) throw new Error(`The total is ${pagination.total}.`)
    return { path, body, nextCursor: pagination.nextCursor }
  }
  const first = await read(base, 1)
  const byCursor: Expected[] = []
  const from = firstDeepPage(newestFirst.length)
  let { nextCursor } = await read(`${base}&page=${from - 1}`, from - 1)
  for (let page = from; page < from + DEEP_PAGES + STORED_PAGES; page += 1) {
    const next = await read(`${base}&cursor=${nextCursor}`, page)
    byCursor.push(next)
    nextCursor = next.nextCursor
  }
  return { first: [first], deep: byCursor.slice(0, DEEP_PAGES), stored: byCursor.slice(DEEP_PAGES) }
}

export const firstDeepPage = (messages: number) => Math.floor(messages / LIMIT) - 500
