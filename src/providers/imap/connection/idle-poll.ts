import { LISTED, MAX_LISTING_BYTES } from '../folders/repeated-listing.ts'

const LF = 10
const PLUS = 43
const NOTHING = Buffer.alloc(0)
const MAX_LINE_BYTES = 16 * 1024
/** Only this many characters of a line are compared. */
const HEAD = 32
/** Longer than what imapflow writes to begin and end an IDLE. */
const MAX_COMMAND_BYTES = 64
const TAGGED = /^([a-z0-9]+) (OK|NO|BAD)\b/i

type State = 'not idling' | 'requested' | 'idling' | 'ending' | 'polling' | 'leaving'

/** The bytes that the server sent between LIST and its completion; undefined when it is no plain list, or a long one. */
type PolledList = Buffer | undefined

/**
 * Lists the folders in the middle of an IDLE of imapflow, with one write instead of three, and without imapflow, for which the IDLE
 * goes on. A mailbox in which nothing happens is asked once a minute, and this halves what that costs.
 *
 *   client: DONE  N1 NOOP  L1 LIST  I1 IDLE ─────────────────────────────── (later) DONE
 *   server:  5 OK ▪ * LIST …  * STATUS …  N1 OK ▪  L1 OK ▪  + ▪ * 3 EXISTS …         I1 OK ──► 5 OK
 *   state:   ending                polling                      idling            leaving
 *
 * imapflow sees neither the list nor the completions (▪), which may come in another order. Everything else that the server reports passes.
 * The IDLE has another tag after a poll, so its completion gets the tag that imapflow knows.
 */
export class IdlePoll {
  readonly #send: (text: string) => void
  #state: State = 'not idling'
  /** The tag that imapflow gave the IDLE, and the one under which the server knows it. */
  #tag = ''
  #serverTag = ''
  #polls = 0
  /** The tags of the last poll. */
  #tags = { noop: '', list: '', idle: '' }
  /** The beginning of a line, until its end arrives. */
  #held: Buffer = NOTHING
  #isMidLine = false
  #lines: Buffer[] = []
  #bytes = 0
  #isPlain = true
  /** Tags and the plus sign of IDLE that the server has still to send. */
  readonly #pending = new Set<string>()
  #isRefused = false
  #resolve: (list: PolledList) => void = () => {}

  /** `send` writes to the server. */
  constructor(send: (text: string) => void) {
    this.#send = send
  }

  /** The server is in IDLE, and has not refused an earlier poll. */
  get isPossible(): boolean {
    return this.#state === 'idling' && !this.#isRefused
  }

  /** The server has ended the IDLE, and not completed the commands that followed at once. */
  get isBehind(): boolean {
    return this.#state === 'polling'
  }

  /**
   * Call it only while `isPossible`; until it resolves imapflow may not send a command. Never rejects, and does not resolve when the
   * server does not answer.
   */
  list(command: string): Promise<PolledList> {
    this.#polls += 1
    this.#state = 'ending'
    this.#lines = []
    this.#bytes = 0
    this.#isPlain = true
    const [noop, list, idle] = [`N${this.#polls}`, `L${this.#polls}`, `I${this.#polls}`]
    this.#tags = { noop, list, idle }
    this.#send(`DONE\r\n${noop} NOOP\r\n${list} ${command}\r\n${idle} IDLE\r\n`)
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** imapflow sends these bytes. */
  sending(bytes: Buffer): void {
    if (bytes.length > MAX_COMMAND_BYTES) return
    const text = bytes.toString('latin1')
    const [, tag] = /^([a-z0-9]+) IDLE\r\n$/i.exec(text) ?? []
    if (tag !== undefined) {
      this.#state = 'requested'
      this.#tag = this.#serverTag = tag
    } else if (text === 'DONE\r\n') this.#state = this.#isPolled ? 'leaving' : 'not idling'
  }

  /** Returns what imapflow may parse of these bytes. */
  pass(bytes: Buffer): Buffer {
    if (!this.#isReading) return this.#release(bytes)
    const all = this.#release(bytes)
    const passed: Buffer[] = []
    let start = 0
    while (this.#isReading) {
      const end = all.indexOf(LF, start) + 1
      if (end === 0) break
      const line = all.subarray(start, end)
      passed.push(this.#isMidLine ? line : this.#line(line))
      this.#isMidLine = false
      start = end
    }
    const rest = all.subarray(start)
    if (this.#isReading && rest.length <= MAX_LINE_BYTES) this.#held = rest
    else passed.push(rest)
    if (this.#isReading && rest.length > MAX_LINE_BYTES) this.#isMidLine = true
    return passed.length === 1 && passed[0] !== undefined ? passed[0] : Buffer.concat(passed)
  }

  #release(bytes: Buffer): Buffer {
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    this.#held = NOTHING
    return all
  }

  get #isPolled(): boolean {
    return this.#serverTag !== this.#tag
  }

  get #isReading(): boolean {
    return this.#state !== 'not idling' && (this.#state !== 'idling' || this.#isPolled)
  }

  /** Returns what imapflow gets instead of a line. */
  #line(line: Buffer): Buffer {
    const [, tag, status = ''] = TAGGED.exec(line.toString('latin1', 0, HEAD)) ?? []
    const { noop, list, idle } = this.#tags
    switch (this.#state) {
      case 'requested':
        if (line[0] === PLUS) this.#state = 'idling'
        if (tag === this.#tag) this.#state = 'not idling'
        return line
      case 'ending':
        if (tag !== this.#serverTag) return line
        this.#serverTag = idle
        this.#state = 'polling'
        for (const response of [noop, list, '+']) this.#pending.add(response)
        return NOTHING
      case 'polling':
        if (tag === idle) return this.#ended(line)
        if (tag !== undefined && status.toUpperCase() !== 'OK') this.#isPlain = false
        if (status.toUpperCase() === 'BAD') this.#isRefused = true
        if (!this.#pending.delete(line[0] === PLUS ? '+' : (tag ?? ''))) return this.#collect(line)
        if (this.#pending.size > 0) return NOTHING
        this.#state = 'idling'
        this.#finish(this.#isPlain ? Buffer.concat(this.#lines) : undefined)
        return NOTHING
      default:
        return tag === this.#serverTag ? this.#ended(line) : line
    }
  }

  /** Takes a line of the list. */
  #collect(line: Buffer): Buffer {
    if (!this.#pending.has(this.#tags.list)) return line
    this.#bytes += line.length
    if (this.#bytes > MAX_LISTING_BYTES) this.#isPlain = false
    if (!LISTED.test(line.toString('latin1'))) {
      this.#isPlain = false
      return line
    }
    if (this.#isPlain) this.#lines.push(line)
    return NOTHING
  }

  /** The IDLE has ended, also when the server ended it or refused to begin it again. */
  #ended(line: Buffer): Buffer {
    const rest = line.subarray(this.#serverTag.length)
    this.#serverTag = this.#tag
    if (this.#state === 'polling') this.#finish(undefined)
    this.#state = 'not idling'
    return Buffer.concat([Buffer.from(this.#tag), rest])
  }

  #finish(list: PolledList): void {
    this.#resolve(list)
    this.#resolve = () => {}
    this.#lines = []
    this.#pending.clear()
  }
}
