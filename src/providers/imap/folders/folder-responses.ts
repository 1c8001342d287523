const [LF, CR, STAR, SPACE, BRACE] = [10, 13, 42, 32, 125]
const NOTHING = Buffer.alloc(0)
/** Longer responses pass as they are. */
const MAX_RESPONSE_BYTES = 64 * 1024
/** Only this many bytes at the end of a line are searched for the announcement of a literal. */
const TAIL = 24
const LITERAL = /\{(\d{1,10})\}\r?\n$/
const COMMAND = /^\* (X?LIST|LSUB|STATUS) /i
const COMMAND_BYTES = 9
/** Most lines need no closer look. */
const FIRST_LETTERS: ReadonlySet<number> = new Set(Buffer.from('LlXxSs'))
const LISTED = /^\* (?:X?LIST|LSUB) \([^()]*\) (?:"(?:[^"\\]|\\.)*"|NIL) /i
const STATUS = /^\* STATUS /i
const QUOTED = /^"((?:[^"\\\r\n]|\\.)*)"/
const ATOM = /^[^\s"(){]+/

/** A LIST, LSUB or STATUS response, as strings of its bytes (latin1). */
export interface FolderResponse {
  before: string
  /** Without quotes. */
  name: string
  after: string
  bytes: Buffer
}

/** Finds the responses about folders in what a server sends. All others pass unseen, with what their literals contain. */
export class FolderResponses {
  readonly #onFolder: (response: FolderResponse) => Buffer
  readonly #onOther: () => Buffer
  /** The beginning of a response that may be about a folder. */
  #held: Buffer = NOTHING
  /** The end of a line that goes on in the next chunk. */
  #tail = ''
  #isMidLine = false
  #literalLeft = 0

  /** `onFolder` returns what replaces a response. `onOther` is called before every line of another kind, and returns what precedes it. */
  constructor(onFolder: (response: FolderResponse) => Buffer, onOther: () => Buffer) {
    this.#onFolder = onFolder
    this.#onOther = onOther
  }

  pass(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = NOTHING
    const passed: Buffer[] = []
    let kept = 0
    for (let at = 0; at < bytes.length; ) {
      if (this.#literalLeft > 0) {
        const length = Math.min(this.#literalLeft, bytes.length - at)
        this.#literalLeft -= length
        at += length
        continue
      }
      const end = this.#isMidLine ? 0 : endOfFolder(bytes, at)
      if (end === 'later') {
        passed.push(bytes.subarray(kept, at))
        this.#held = bytes.subarray(at)
        return Buffer.concat(passed)
      }
      if (end > 0) {
        const response = folderResponse(bytes.subarray(at, end))
        if (response !== undefined) {
          passed.push(bytes.subarray(kept, at), this.#onFolder(response))
          kept = end
        }
        at = end
        continue
      }
      if (!this.#isMidLine) {
        const before = this.#onOther()
        if (before.length > 0) {
          passed.push(bytes.subarray(kept, at), before)
          kept = at
        }
      }
      at = this.#skipLine(bytes, at)
    }
    if (passed.length === 0) return bytes
    passed.push(bytes.subarray(kept))
    return Buffer.concat(passed)
  }

  /** Returns where the rest begins. */
  #skipLine(bytes: Buffer, at: number): number {
    const lineEnd = bytes.indexOf(LF, at) + 1
    const end = lineEnd === 0 ? bytes.length : lineEnd
    const last = bytes[end - 2] === CR ? end - 3 : end - 2
    if (lineEnd !== 0 && last >= at && bytes[last] !== BRACE) {
      this.#tail = ''
      this.#isMidLine = false
      return end
    }
    if (lineEnd !== 0 && this.#tail === '') {
      const length = literalAt(bytes, at, last)
      this.#literalLeft = length ?? 0
      this.#isMidLine = length !== undefined
      return end
    }
    const tail = (this.#tail + bytes.toString('latin1', Math.max(at, end - TAIL), end)).slice(-TAIL)
    const literal = lineEnd === 0 ? undefined : LITERAL.exec(tail)?.[1]
    this.#tail = lineEnd === 0 ? tail : ''
    this.#literalLeft = Number(literal ?? 0)
    this.#isMidLine = lineEnd === 0 || literal !== undefined
    return end
  }
}

/** The length of the literal that `{310}` announces, whose closing brace is at `last`. Without a string, because every message has some. */
function literalAt(bytes: Buffer, from: number, last: number): number | undefined {
  let length = 0
  let scale = 1
  for (let at = last - 1; at >= from; at -= 1) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9 || scale > MAX_SCALE) return bytes[at] === OPEN && scale > 1 ? length : undefined
    length += digit * scale
    scale *= 10
  }
  return undefined
}

const [ZERO, OPEN] = [0x30, 0x7b]
/** Stops after ten digits. */
const MAX_SCALE = 1e9

/** Where the response about a folder ends that begins here; 0 for another response, `later` when more must arrive first. */
function endOfFolder(bytes: Buffer, at: number): number | 'later' {
  if (bytes[at] !== STAR || (at + 1 < bytes.length && bytes[at + 1] !== SPACE)) return 0
  if (at + 2 < bytes.length && !FIRST_LETTERS.has(bytes[at + 2] ?? 0)) return 0
  const isShort = bytes.length - at < COMMAND_BYTES
  if (!isShort && !COMMAND.test(bytes.toString('latin1', at, at + COMMAND_BYTES))) return 0
  for (let from = at; ; ) {
    const lineEnd = bytes.indexOf(LF, from) + 1
    if (lineEnd === 0) return bytes.length - at > MAX_RESPONSE_BYTES ? 0 : 'later'
    if (isShort) return 0
    const literal = LITERAL.exec(bytes.toString('latin1', Math.max(from, lineEnd - TAIL), lineEnd))?.[1]
    if (literal === undefined) return lineEnd
    from = lineEnd + Number(literal)
    if (from - at > MAX_RESPONSE_BYTES) return 0
    if (from >= bytes.length) return 'later'
  }
}

function folderResponse(bytes: Buffer): FolderResponse | undefined {
  const text = bytes.toString('latin1')
  const before = (LISTED.exec(text) ?? STATUS.exec(text))?.[0]
  if (before === undefined) return undefined
  const rest = text.slice(before.length)
  const literal = /^\{(\d{1,10})\}\r?\n/.exec(rest)
  if (literal !== null) {
    const nameEnd = literal[0].length + Number(literal[1])
    return { before, name: rest.slice(literal[0].length, nameEnd), after: rest.slice(nameEnd), bytes }
  }
  const [written = '', content] = QUOTED.exec(rest) ?? ATOM.exec(rest) ?? []
  if (written === '') return undefined
  const name = content === undefined ? written : content.replace(/\\(.)/g, '$1')
  return { before, name, after: rest.slice(written.length), bytes }
}

/** As a quoted string, with bytes of any value: servers that write such names read them so. */
export function quoted(name: Buffer): Buffer {
  return Buffer.from(`"${name.toString('latin1').replace(/["\\]/g, '\\$&')}"`, 'latin1')
}
