import type { Db } from '../src/platform/db/index.ts'
import type { RemoteMessage } from '../src/providers/contract/index.ts'
import { copyAccount } from './copied-account.ts'
import { seedMessages } from './message-seed.ts'

/** The accounts: the first one was stored as sync does, and the others are copies of it. */
export interface SearchSeed {
  accountIds: string[]
  /** Of the first account. */
  folderId: string
}

/**
 * Adds accounts to those that were seeded before. Messages have the same words in every account, with different ids. Leaves the search
 * index to the indexer.
 */
export async function seedForSearch(
  db: Db,
  { accounts, messages }: { accounts: number; messages: number },
  say: (line: string) => void,
  earlier?: SearchSeed,
): Promise<SearchSeed> {
  const startMs = performance.now()
  const seed = earlier ?? (await seedFirst(db, messages))
  const { accountIds, folderId } = seed
  const first = { accountId: accountIds[0] ?? '', folderId }
  while (accountIds.length < accounts) {
    accountIds.push(await copyAccount(db, first, accountIds.length))
    if (accountIds.length % 5 === 0) say(`  ${accountIds.length} accounts stored after ${since(startMs)}`)
  }
  return seed
}

async function seedFirst(db: Db, messages: number): Promise<SearchSeed> {
  const { accountId, folderId } = await seedMessages(db, messages, buildContent)
  // The indexer builds the index from all messages.
  await db.transaction((tx) => tx.deleteFrom('unindexedMessages').execute())
  return { accountIds: [accountId], folderId }
}

export function since(startMs: number): string {
  return `${((performance.now() - startMs) / 1000).toFixed(0)} s`
}

const VOCABULARY = 20_000
const WORDS = 90
const SYLLABLES = 'ka lo mi ra te su no pe di va gu be ti so ma re ku fi no da'.split(' ')
const PEOPLE = 50

/** A search, and how many of `messages` messages it finds where the content below determines it. */
export interface Query {
  kind: string
  /** `n` is different for each request. */
  params(n: number, messages: number): Record<string, string>
  found?(messages: number): number
}

const every = (step: number) => (messages: number) => Math.floor(messages / step)

export const QUERIES: readonly Query[] = [
  { kind: 'one message', params: (n, all) => ({ q: reference(1 + (n % all)) }), found: () => 1 },
  { kind: '1 % of the messages', params: () => ({ q: 'quarterly' }), found: every(100) },
  { kind: '5 %', params: () => ({ q: 'invoice' }), found: every(20) },
  { kind: '20 %', params: () => ({ q: 'budget' }), found: every(5) },
  { kind: 'all', params: () => ({ q: 'regards' }), found: every(1) },
  { kind: 'two words: 20 % and all', params: () => ({ q: 'budget regards' }), found: every(5) },
  { kind: 'two words: 1 % and 5 %', params: () => ({ q: 'quarterly invoice' }), found: every(100) },
  {
    kind: 'two words: all and one',
    params: (n, all) => ({ q: `regards ${reference(1 + (n % all))}` }),
    found: () => 1,
  },
  { kind: 'two words: 20 % and all, none both', params: () => ({ q: 'budget budgetless' }), found: () => 0 },
  { kind: 'sender', params: (n) => ({ from: `person${n % PEOPLE}` }) },
  { kind: 'subject and flag', params: () => ({ subject: 'figures', unread: 'true' }), found: every(5) },
  { kind: 'begin of words', params: () => ({ q: 'kal' }) },
  { kind: 'one letter', params: () => ({ q: 'k' }) },
  { kind: '会議, 5 %', params: () => ({ q: '会議' }), found: every(20) },
  { kind: '東京都で契約書, 1 %', params: () => ({ q: '東京都で契約書' }), found: every(100) },
  { kind: '会議 and a word of all', params: () => ({ q: '会議 regards' }), found: every(20) },
]

/** About 100 words. Their frequencies fall as in natural language: the word of rank r has a share of 1/r. */
function buildContent(uid: number): Partial<RemoteMessage> {
  const random = numbers(uid)
  const words = Array.from({ length: WORDS }, () => word(Math.floor(VOCABULARY ** random())))
  words.push('regards', reference(uid))
  if (uid % 5 === 0) words.push('budget')
  if (uid % 20 === 0) words.push('invoice', '来週の会議の資料をお送りします。')
  if (uid % 100 === 0) words.push('quarterly', '東京都で契約書を確認しました。')
  const text = words.join(' ')
  const person = Math.floor(random() * PEOPLE)
  return {
    subject: `Figures of ${words.slice(0, 4).join(' ')}`,
    from: { name: `Person ${person}`, email: `person${person}@example.com` },
    text,
    snippet: text.slice(0, 200),
  }
}

function reference(uid: number): string {
  return `ref${String(uid).padStart(8, '0')}`
}

/** Each rank has a word of its own, of two to eight letters. */
function word(rank: number): string {
  let text = ''
  for (let rest = rank; ; rest = Math.floor(rest / SYLLABLES.length) - 1) {
    text += SYLLABLES[rest % SYLLABLES.length]
    if (rest < SYLLABLES.length) return text
  }
}

/** Always the same numbers for one seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
