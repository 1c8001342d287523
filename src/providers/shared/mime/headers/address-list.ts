import type { RemoteAddress } from '../../../contract/index.ts'
import { decodeAdjacent, decodeWords, type EncodedWord, readEncodedWord } from './encoded-words.ts'

/**
 * The addresses of a From, To or similar field (RFC 5322 3.4 with the obsolete forms), in order. Entries without an address, which broken
 * programs write, keep their name and an empty `email`. Encoded words and quoted text are parts of names, whatever they contain, so
 * that no address ever comes out of a display name. Linear; never throws.
 */
export function readAddressList(value: string, limit: number): RemoteAddress[] {
  const reader = new AddressReader(value)
  const found: RemoteAddress[] = []
  while (found.length < limit) {
    const entry = reader.next()
    if (entry === undefined) break
    found.push(...readAddresses(entry).filter(({ name, email }) => name !== '' || email !== ''))
  }
  return found.slice(0, limit)
}

type Token = { isSpaced: boolean } & (
  | { kind: 'atom' | 'quoted' | 'comment' | 'angle'; text: string }
  | { kind: 'word'; word: EncodedWord }
)

const SPACE = /[ \t\r\n]/
/** A thousand addresses with encoded names have 4,000. What follows is left out. */
const MAX_TOKENS = 10_000
const ATOM_END = /[ \t\r\n,;:<>()"]/g

/** Splits a list into the tokens of each entry. */
class AddressReader {
  readonly #value: string
  #at = 0
  /** Set when one is found without its end, so that no other is searched for. */
  #hasOpenQuote = false
  #hasOpenComment = false
  #tokens = 0

  constructor(value: string) {
    this.#value = value
  }

  /** The tokens up to the next separator. Undefined at the end. Names of groups are left out. */
  next(): Token[] | undefined {
    if (this.#isAtEnd) return undefined
    let tokens: Token[] = []
    let isSpaced = false
    while (!this.#isAtEnd) {
      const char = this.#value[this.#at] ?? ''
      if (SPACE.test(char)) {
        isSpaced = true
        this.#at += 1
        continue
      }
      if (char === ',' || char === ';') {
        this.#at += 1
        this.#tokens += 1
        return tokens
      }
      if (char === ':' && !tokens.some(({ kind }) => kind === 'angle')) {
        // The tokens before it were the name of a group.
        this.#at += 1
        tokens = []
        continue
      }
      this.#tokens += 1
      tokens.push({ ...this.#token(char), isSpaced })
      isSpaced = false
    }
    return tokens
  }

  get #isAtEnd(): boolean {
    return this.#at >= this.#value.length || this.#tokens > MAX_TOKENS
  }

  #token(char: string) {
    return (
      (char === '=' ? this.#word() : undefined) ??
      (char === '"' ? this.#quoted() : undefined) ??
      (char === '(' ? this.#comment() : undefined) ??
      (char === '<' ? this.#angle() : undefined) ??
      this.#atom()
    )
  }

  #word() {
    const word = readEncodedWord(this.#value, this.#at)
    if (word === undefined) return undefined
    this.#at = word.end
    return { kind: 'word', word } as const
  }

  #quoted() {
    if (this.#hasOpenQuote) return undefined
    let text = ''
    for (let at = this.#at + 1; at < this.#value.length; at += 1) {
      const char = this.#value[at]
      if (char === '"') {
        this.#at = at + 1
        return { kind: 'quoted', text } as const
      }
      if (char === '\\') at += 1
      text += this.#value[at] ?? ''
    }
    this.#hasOpenQuote = true
    return undefined
  }

  #comment() {
    if (this.#hasOpenComment) return undefined
    let text = ''
    let depth = 0
    for (let at = this.#at; at < this.#value.length; at += 1) {
      const char = this.#value[at]
      if (char === '(') depth += 1
      if (char === ')') depth -= 1
      if (depth === 0) {
        this.#at = at + 1
        return { kind: 'comment', text: text.slice(1) } as const
      }
      if (char === '\\') at += 1
      text += this.#value[at] ?? ''
    }
    this.#hasOpenComment = true
    return undefined
  }

  /** An address in brackets. Without its end, it goes up to the next separator. */
  #angle() {
    let at = this.#endOfQuotedLocal()
    for (; at < this.#value.length; at += 1) {
      const char = this.#value[at]
      if (char === '>' || char === '<' || ((char === ',' || char === ';') && !this.#isRoute())) break
    }
    const text = this.#value.slice(this.#at + 1, at)
    this.#at = at
    // Broken programs write two brackets.
    while (this.#value[this.#at] === '>') this.#at += 1
    return { kind: 'angle', text } as const
  }

  /** The end of a quoted local part at the beginning of the brackets; without one, their beginning. */
  #endOfQuotedLocal(): number {
    const start = this.#at + 1
    if (this.#value[start] !== '"' || this.#hasOpenQuote) return start
    for (let at = start + 1; at < this.#value.length; at += 1) {
      if (this.#value[at] === '"') return this.#value[at + 1] === '@' ? at + 1 : start
      if (this.#value[at] === '\\') at += 1
    }
    this.#hasOpenQuote = true
    return start
  }

  /** `<@relay.example,@other.example:user@host>` (obsolete). */
  #isRoute(): boolean {
    return /^\s*@/.test(this.#value.slice(this.#at + 1, this.#at + 20))
  }

  #atom() {
    ATOM_END.lastIndex = this.#at + 1
    const end = ATOM_END.exec(this.#value)?.index ?? this.#value.length
    const text = this.#value.slice(this.#at, end)
    this.#at = end
    // `user@[IPv6:…]`
    if (text.endsWith('@[IPv6') || text.endsWith('@[IPV6')) {
      const close = this.#value.indexOf(']', end)
      if (close !== -1 && close - end < 60) {
        this.#at = close + 1
        return { kind: 'atom', text: text + this.#value.slice(end, close + 1) } as const
      }
    }
    return { kind: 'atom', text } as const
  }
}

function readAddresses(tokens: readonly Token[]): RemoteAddress[] {
  const angles = tokens.flatMap((token) => (token.kind === 'angle' ? [emailIn(token.text)] : []))
  const email = angles.filter((text) => text.includes('@')).at(-1) ?? angles.filter((text) => text !== '').at(-1)
  if (angles.length > 0) return [{ name: readName(tokens), email: email ?? '' }]
  const chunks = splitChunks(tokens)
  const addresses = chunks.filter((chunk) => chunk.isAddress)
  if (addresses.length > 1 && addresses.length === chunks.length) {
    return addresses.map((chunk) => ({ name: '', email: joinText(chunk.tokens) }))
  }
  const last = addresses.at(-1)
  if (last === undefined) return [{ name: readName(tokens), email: '' }]
  return [{ name: readName(tokens.filter((token) => !last.tokens.includes(token))), email: joinText(last.tokens) }]
}

interface Chunk {
  tokens: Token[]
  isAddress: boolean
}

/** Tokens with nothing between them but comments. Encoded words and comments are none. */
function splitChunks(tokens: readonly Token[]): Chunk[] {
  const chunks: Token[][] = []
  let isNew = true
  for (const token of tokens) {
    if (token.kind === 'comment') continue
    if (token.isSpaced || isNew || token.kind === 'word') chunks.push([])
    isNew = token.kind === 'word'
    chunks.at(-1)?.push(token)
  }
  return chunks.map((chunk) => ({ tokens: chunk, isAddress: isAddress(chunk) }))
}

/** `local@domain`. Quoted text may only be the local part. */
function isAddress(chunk: readonly Token[]): boolean {
  if (chunk.some(({ kind }) => kind === 'word')) return false
  const domain = chunk.at(-1)
  if (domain?.kind !== 'atom') return false
  const at = domain.text.lastIndexOf('@')
  return at !== -1 && at < domain.text.length - 1 && (at > 0 || chunk.length > 1)
}

function joinText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => (token.kind === 'quoted' ? quoted(token.text) : token.kind === 'word' ? '' : token.text))
    .join('')
}

function quoted(text: string): string {
  return /^[\w!#$%&'*+/=?^`{|}~.-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** The address in angle brackets, without comments, white space, a route or `mailto:`. */
function emailIn(text: string): string {
  const tokens = new AddressReader(text.replace(/^\s*@[^:]*:/, '').replace(/^\s*mailto:/i, '')).next() ?? []
  const bare = tokens.filter(({ kind }) => kind !== 'comment')
  const words = bare.flatMap((token) => (token.kind === 'word' ? [token.word] : []))
  return words.length === bare.length ? decodeAdjacent(words).trim() : joinText(bare)
}

/** The display name: the words of the phrase, or else of the comments. */
function readName(tokens: readonly Token[]): string {
  const phrase = tokens.filter(({ kind }) => kind !== 'angle' && kind !== 'comment')
  const name = joined(phrase)
  if (name !== '') return name
  return tokens
    .flatMap((token) => (token.kind === 'comment' ? [decodeWords(token.text).trim()] : []))
    .join(' ')
    .trim()
}

function joined(tokens: readonly Token[]): string {
  const pieces: string[] = []
  let pending: EncodedWord[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'word') {
      if (pending.length === 0 && index > 0 && token.isSpaced) pieces.push(' ')
      pending.push(token.word)
      continue
    }
    pieces.push(decodeAdjacent(pending))
    pending = []
    if (index > 0 && token.isSpaced) pieces.push(' ')
    pieces.push(decodeWords(token.text))
  }
  pieces.push(decodeAdjacent(pending))
  return pieces.join('').trim()
}
