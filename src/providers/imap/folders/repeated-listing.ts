import { hash } from 'node:crypto'
import type { ResponseGate } from '../connection/response-gate.ts'

/** Longer listings are parsed every time. Shorter ones have up to a hundred folders with their states. */
export const MAX_LISTING_BYTES = 16 * 1024
/** Longer commands are not repeated. */
const MAX_COMMAND_BYTES = 500
const LF = 10
/** A line of a listing. One that ends with a brace announces a literal. */
export const LISTED = /^\* (LIST|STATUS) .*[^}\r]\r?\n$/i
/** Any other line, unless it announces a literal. */
const OTHER = /^(?!\* (?:LIST|STATUS) ).*[^}\r]\r?\n$/i
const COMPLETED = /^[a-z0-9]+ OK /i
/** Complete for imapflow: it would ask for subscriptions if no folder had one, and for the state of a folder without one. */
const SHORT_LISTING = Buffer.from('* LIST (\\Subscribed) NIL INBOX\r\n* STATUS INBOX (MESSAGES 0)\r\n')
const NOTHING = Buffer.alloc(0)

/**
 * A mailbox in which nothing happens answers every check with the same listing, and parsing it would take a quarter of the CPU time of
 * an idle account. A listing with the same bytes as the last one is therefore not parsed again:
 *
 *   server ──► gate ──► lines of the listing, held until its end ──┬── the bytes of the last one ──► a short listing ──► imapflow
 *                                                                  └── other bytes ────────────────► all of them ─────► imapflow
 *
 * Any line of another kind within the listing ends the comparison, and everything passes as it came.
 */
export class RepeatedListing {
  #reading: Reading | undefined
  #held: Buffer = NOTHING
  #last: { digest: string; command: string | undefined; result: unknown } | undefined

  /**
   * Returns what `list` returns, which sends one LIST command, the same in every call. When the server answers as it did to the last
   * call, returns the object that the last call returned.
   */
  async read<T>(gate: ResponseGate, list: () => Promise<T>): Promise<T> {
    // A read that was abandoned may still be in progress.
    if (this.#reading !== undefined || gate.isMidResponse) return list()
    const reading: Reading = { isHolding: true, isRepeated: false, digest: undefined, command: undefined }
    this.#reading = reading
    try {
      const result = await list()
      if (reading.isRepeated) return this.#last?.result as T
      const { digest, command } = reading
      this.#last = digest === undefined ? undefined : { digest, command, result }
      return result
    } finally {
      this.#reading = undefined
    }
  }

  /** The LIST command of the last listing, without its tag, when another listing can be compared with it. */
  get command(): string | undefined {
    return this.#reading === undefined ? this.#last?.command : undefined
  }

  /** Returns the last result of `read`, when the server sends the same lines for `command` again. */
  findResult(listing: Buffer): unknown {
    return hashListing(listing) === this.#last?.digest ? this.#last.result : undefined
  }

  /** imapflow sends these bytes. */
  sending(bytes: Buffer): void {
    if (this.#reading === undefined || bytes.length > MAX_COMMAND_BYTES) return
    this.#reading.command = /^[a-z0-9]+ (LIST [^\r\n]*[^\r\n}])\r\n$/i.exec(bytes.toString('latin1'))?.[1]
  }

  /** Returns what imapflow may parse now that these bytes, which the gate has passed, have arrived. */
  pass(bytes: Buffer): Buffer {
    const held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    this.#held = NOTHING
    const reading = this.#reading
    if (reading === undefined) return held
    // More than the listing arrives, perhaps of a second LIST.
    reading.digest = undefined
    if (!reading.isHolding) return held
    const start = startOfListing(held)
    const listing = held.subarray(start)
    const end = endOfListing(listing)
    reading.isHolding = end === 'later'
    if (end === 'later') {
      this.#held = listing
      return held.subarray(0, start)
    }
    if (end === 'never') return held
    reading.digest = hashListing(listing.subarray(0, end))
    reading.isRepeated = reading.digest === this.#last?.digest
    return reading.isRepeated ? Buffer.concat([held.subarray(0, start), SHORT_LISTING, listing.subarray(end)]) : held
  }
}

interface Reading {
  /** The listing is not complete, and nothing else has arrived. */
  isHolding: boolean
  /** imapflow was given the short listing. */
  isRepeated: boolean
  /** The digest of the complete listing, until more arrives. */
  digest: string | undefined
  /** The last command that was sent, if it was a LIST. */
  command: string | undefined
}

const hashListing = (listing: Buffer) => hash('sha256', listing)

/** The lines before it are of something else, such as the end of an IDLE. */
function startOfListing(bytes: Buffer): number {
  for (let start = 0; ; ) {
    const next = bytes.indexOf(LF, start) + 1
    if (next === 0 || !OTHER.test(bytes.toString('latin1', start, next))) return start
    start = next
  }
}

/** Where the line begins that completes the LIST command; `never` when the bytes are not a plain listing, or a long one. */
function endOfListing(bytes: Buffer): number | 'later' | 'never' {
  for (let start = 0; ; ) {
    const next = bytes.indexOf(LF, start) + 1
    if (next === 0) return bytes.length > MAX_LISTING_BYTES ? 'never' : 'later'
    const line = bytes.toString('latin1', start, next)
    if (!LISTED.test(line)) return start > 0 && COMPLETED.test(line) ? start : 'never'
    start = next
  }
}
