import { createHash } from 'node:crypto'
import type { ProviderWords, SearchWords } from './contract.ts'
import { indexedWords, plainWords, queryWords } from './tokeniser.ts'

/**
 * The letter of each field in the prefix of indexed words, in both databases. A short hash of the account precedes it, so that a search
 * reads only the account's part of the index. Two accounts may share a hash, so results are joined with a label of the account.
 */
const FIELD = { q: 'a', from: 'f', to: 't', subject: 's' } as const satisfies Record<keyof SearchWords, string>

/** More words than any message of people has; bounds the work for a hostile one. */
const MAX_TERMS = 5000

export interface SearchableMessage {
  accountId: string
  subject: string
  text: string
  /** JSON of its addresses and attachments, as stored with the message. */
  fields: string
}

interface Addressed {
  name: string
  email: string
}

interface Fields {
  from: Addressed | null
  to: Addressed[]
  cc: Addressed[]
  bcc: Addressed[]
  replyTo: Addressed[]
  attachments: { filename: string }[]
}

interface QueryTerm {
  term: string
  isPrefix: boolean
}

export function extractTerms({ accountId, subject, text, fields }: SearchableMessage): string[] {
  const { from, to, cc, bcc, replyTo, attachments } = JSON.parse(fields) as Partial<Fields>
  const recipients = [...(to ?? []), ...(cc ?? []), ...(bcc ?? [])]
  const account = accountHash(accountId)
  const terms = new Set<string>()
  const add = (content: string, field: keyof SearchWords) => {
    for (const word of indexedWords(content)) {
      if (terms.size >= MAX_TERMS) return
      terms.add(account + FIELD[field] + word)
    }
  }
  const sender = addressText(from == null ? [] : [from])
  const receivers = addressText(recipients)
  add(sender, 'from')
  add(subject, 'subject')
  for (const content of [sender, subject, text]) add(content, 'q')
  add(receivers, 'to')
  add(receivers, 'q')
  add(`${addressText(replyTo ?? [])} ${(attachments ?? []).map(({ filename }) => filename).join(' ')}`, 'q')
  return [...terms]
}

/** All of these terms must match. Empty when there is nothing to search for: no message matches then. */
export function queryTerms(accountId: string, words: SearchWords): QueryTerm[] {
  const account = accountHash(accountId)
  const terms = new Map<string, QueryTerm>()
  for (const [name, field] of Object.entries(FIELD)) {
    const text = words[name as keyof SearchWords]
    if (text === undefined) continue
    const found = queryWords(text)
    if (found.length === 0) return []
    for (const { word, isPrefix } of found) {
      const term = account + field + word
      terms.set(`${term} ${isPrefix}`, { term, isPrefix })
    }
  }
  return [...terms.values()]
}

/** The stored text of a message ends at 4,096 characters, and at what an IMAP server sends of a body in 16 KB. */
const CUT_TEXT = 4095
const CUT_BYTES = 16 * 1024

/** Whether a message contains the words, as far as its row shows: what follows the stored text may contain words, too. */
export function mayContain(message: SearchableMessage & { sizeBytes: number }, words: SearchWords): boolean {
  const isCut = message.text.length >= CUT_TEXT || message.sizeBytes > CUT_BYTES
  const contained = isCut ? { ...words, q: undefined } : words
  const terms = new Set(extractTerms(message))
  return queryTerms(message.accountId, contained).every(
    ({ term, isPrefix }) => terms.has(term) || (isPrefix && [...terms].some((candidate) => candidate.startsWith(term))),
  )
}

/** Providers repeat a word up to three times in the address of a request. What a message shows is compared with all words afterwards. */
const MAX_PROVIDER_WORDS = 8
const MAX_PROVIDER_CHARACTERS = 200

/** The words as providers search them, which fold them in their own way. Undefined without a word. */
export function providerWords({ q, from, to, subject }: SearchWords): ProviderWords | undefined {
  let words = 0
  let characters = 0
  const take = (text: string | undefined) =>
    plainWords(text ?? '').filter((word) => {
      const fits = words < MAX_PROVIDER_WORDS && characters + word.length <= MAX_PROVIDER_CHARACTERS
      if (fits) {
        words += 1
        characters += word.length
      }
      return fits
    })
  const taken = { text: take(q), from: take(from), to: take(to), subject: take(subject) }
  return words === 0 ? undefined : taken
}

function addressText(addresses: readonly Addressed[]): string {
  return addresses.map(({ name, email }) => `${name} ${email}`).join(' ')
}

const HASH_CHARACTERS = 5
/** The length of the prefix. */
export const FIELD_CHARACTERS = HASH_CHARACTERS + 1
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

function accountHash(accountId: string): string {
  const digest = createHash('sha256').update(accountId).digest()
  return [...digest.subarray(0, HASH_CHARACTERS)].map((byte) => BASE32[byte & 31]).join('')
}
