import { limitExceeded } from '../errors.ts'

/** Limits one response of the server. The parser is fast enough for everything below these limits. */
interface ResponseLimits {
  /** Bytes outside literals. */
  lineBytes: number
  /** Atoms, strings and lists. Each costs the parser and its readers about a microsecond. */
  tokens: number
  literals: number
  /** Bytes of one literal, as announced. */
  literalBytes: number
  /** Bytes of all its lines and literals. */
  responseBytes: number
  /** Bytes of a SEARCH response, which imapflow reads without its tokenizer. */
  searchBytes: number
}

/** Responses of 200 parts have 40 kB and 5,000 tokens. */
export const RESPONSE_LIMITS: ResponseLimits = {
  lineBytes: 64 * 1024,
  tokens: 10_000,
  literals: 1000,
  literalBytes: 2 * 1024 * 1024,
  responseBytes: 8 * 1024 * 1024,
  searchBytes: 640 * 1024,
}

/** Mailboxes with more folders are refused. */
const MAX_FOLDERS = 10_000

/** Bytes of a response that is cut, so that nothing of it is held: a structure of thousands of parts, or all of a long message. */
const MAX_CUT_BYTES = 64 * 1024 * 1024

/** Shorter responses cannot have too many tokens, and are not counted. */
const COUNTED_FROM = 2048
const HEAD = 32
const TAIL = 32
/** imapflow cannot parse a line with this character, whatever precedes it. */
const UNREADABLE = Buffer.from('\u0001\r\n')
const MAX_DIGITS = 20
const [LF, CR, BRACE] = [10, 13, 125]
/** Every token begins with one of these, or follows one. */
const [SPACE, OPEN, QUOTE, BACKSLASH] = [32, 40, 34, 92]

/**
 * Limits the responses of one connection before imapflow parses them. A FETCH or VANISHED response over its limits reaches imapflow
 * as a line that it cannot parse, because one message must not end the connection. Any other response over its limits is an error.
 */
export class ResponseGate {
  #limits: ResponseLimits
  /** The beginning of the response, and the end of its unfinished line. */
  #head = ''
  #tail = ''
  #lineBytes = 0
  #responseBytes = 0
  #tokens = 0
  #literals = 0
  #literalLeft = 0
  #isCut = false
  #lines = 0
  #folders = 0

  constructor(limits: ResponseLimits) {
    this.#limits = limits
  }

  /** Lines of the server until now, empty ones included. */
  get lines(): number {
    return this.#lines
  }

  /** Allows larger literals, and responses of twice their size. Returns the function that ends this. */
  allowLiterals(literalBytes: number): () => void {
    const before = this.#limits
    this.#limits = {
      ...before,
      literalBytes: Math.max(before.literalBytes, literalBytes),
      responseBytes: Math.max(before.responseBytes, 2 * literalBytes),
    }
    return () => {
      this.#limits = before
    }
  }

  /** A response has begun and is not complete yet. */
  get isMidResponse(): boolean {
    return this.#responseBytes > 0
  }

  /** Call it before LIST, so that the folders of earlier lists do not count. */
  forgetFolders(): void {
    this.#folders = 0
  }

  /** Returns what imapflow may parse of these bytes. Throws `limit_exceeded`. */
  pass(chunk: Buffer): Buffer {
    const kept: Buffer[] = []
    let keptUntil = 0
    // Where the response in progress begins in this chunk.
    let start = 0
    for (let at = 0; at < chunk.length; ) {
      if (this.#literalLeft > 0) {
        const length = Math.min(this.#literalLeft, chunk.length - at)
        this.#literalLeft -= length
        at += length
        continue
      }
      const lineEnd = chunk.indexOf(LF, at) + 1
      const end = lineEnd === 0 ? chunk.length : lineEnd
      this.#count(chunk, at, end)
      if (!this.#isCut && this.#isLong && this.#isTooLong(this.#readHead(chunk, start, end))) {
        this.#isCut = true
        kept.push(chunk.subarray(keptUntil, at), UNREADABLE)
      }
      const literalBytes = lineEnd === 0 ? undefined : this.#literalAt(chunk, at, end)
      if (literalBytes !== undefined) {
        if (!this.#isCut && literalBytes > this.#limits.literalBytes) {
          if (!isFetch(this.#readHead(chunk, start, end))) throw literalTooLarge(literalBytes)
          this.#isCut = true
          kept.push(chunk.subarray(keptUntil, at), UNREADABLE)
        }
        this.#beginLiteral(literalBytes)
      }
      const isResponseEnd = lineEnd !== 0 && literalBytes === undefined
      if (lineEnd === 0)
        this.#tail = (this.#tail + chunk.toString('latin1', Math.max(at, end - TAIL), end)).slice(-TAIL)
      if (this.#isCut) keptUntil = end
      if (isResponseEnd) {
        if (this.#mayBeFolder(chunk, start)) this.#countFolder(this.#readHead(chunk, start, end))
        this.#endResponse()
        start = end
      }
      at = end
    }
    if (this.#lineBytes > 0) this.#head = this.#readHead(chunk, start, chunk.length)
    if (this.#isCut) return Buffer.concat(kept)
    return keptUntil === 0 ? chunk : Buffer.concat([...kept, chunk.subarray(keptUntil)])
  }

  #count(chunk: Buffer, from: number, to: number): void {
    const { searchBytes, responseBytes } = this.#limits
    this.#lineBytes += to - from
    this.#responseBytes += to - from
    this.#checkSize(Math.max(responseBytes, searchBytes))
    if (this.#lineBytes < COUNTED_FROM) return
    for (let at = from; at < to; at += 1) {
      const byte = chunk[at]
      if (byte === SPACE || byte === OPEN || byte === QUOTE || byte === BACKSLASH) this.#tokens += 1
    }
  }

  /** The beginning of the response. With a literal among its first characters, some of its text, which does no harm. */
  #readHead(chunk: Buffer, start: number, end: number): string {
    if (this.#head.length >= HEAD) return this.#head
    return this.#head + chunk.toString('latin1', start, Math.min(end, start + HEAD - this.#head.length))
  }

  get #isLong(): boolean {
    const { lineBytes, tokens, literals } = this.#limits
    return this.#lineBytes > lineBytes || this.#tokens > tokens || this.#literals > literals
  }

  /** Returns false when the response may be as long as it is, and throws when it may not and cannot be cut. */
  #isTooLong(head: string): boolean {
    const { searchBytes } = this.#limits
    if (isFetch(head) || /^\* VANISHED /i.test(head)) return true
    if (/^\* SEARCH /i.test(head) && this.#lineBytes <= searchBytes && this.#literals === 0) return false
    throw limitExceeded(`the server sent a response that is too long (${this.#lineBytes} bytes)`)
  }

  /** The size of the literal that the line ends with, as imapflow reads it. */
  #literalAt(chunk: Buffer, from: number, end: number): number | undefined {
    const tail = end - from < TAIL ? this.#tail : ''
    this.#tail = ''
    this.#lines += 1
    const brace = chunk[end - 2] === CR ? end - 3 : end - 2
    if (brace >= from && chunk[brace] !== BRACE) return undefined
    const ending = tail + chunk.toString('latin1', Math.max(from, end - TAIL), end)
    const [, open, digits = ''] = /(\{?)(\d+)\}\r?\n$/.exec(ending) ?? []
    // Leading zeros are allowed, and may hide the brace.
    const isHidden = open === '' && digits.length >= MAX_DIGITS
    if (isHidden) throw literalTooLarge(Number(digits))
    return open === '{' ? Number(digits) : undefined
  }

  #beginLiteral(size: number): void {
    this.#literals += 1
    this.#literalLeft = size
    this.#responseBytes += size
    this.#checkSize(this.#limits.responseBytes)
  }

  #checkSize(maxBytes: number): void {
    if (this.#responseBytes <= (this.#isCut ? MAX_CUT_BYTES : maxBytes)) return
    throw limitExceeded(`the server sent a response that is too large (${this.#responseBytes} bytes)`)
  }

  /** False for nearly all responses, without the cost of a string. */
  #mayBeFolder(chunk: Buffer, start: number): boolean {
    if (this.#head !== '') return true
    // L or X, in either case.
    const letter = (chunk[start + 2] ?? 0) | 32
    return letter === 108 || letter === 120
  }

  #countFolder(head: string): void {
    if (!/^\* X?LIST /i.test(head)) return
    this.#folders += 1
    if (this.#folders > MAX_FOLDERS) throw limitExceeded(`the mailbox has more than ${MAX_FOLDERS} folders`)
  }

  #endResponse(): void {
    this.#head = ''
    this.#lineBytes = this.#responseBytes = this.#tokens = this.#literals = 0
    this.#isCut = false
  }
}

function isFetch(head: string): boolean {
  return /^\* \d+ FETCH /i.test(head)
}

function literalTooLarge(size: number): Error {
  return limitExceeded(`the server announced a literal of ${size} bytes`)
}
