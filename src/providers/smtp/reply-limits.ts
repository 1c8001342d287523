import type SmtpConnection from 'nodemailer/lib/smtp-connection'

/** No server sends an empty line, but RFC 5321 does not forbid the client to skip some. */
const MAX_EMPTY_LINES = 100
const LINE_FEED = 0x0a
const SPACE = 0x20
const NO_BREAK_SPACE = 0xa0

/**
 * Ends the connection when the server sends empty lines without end. nodemailer bounds the bytes of a reply and refuses replies that
 * nothing waits for, but it keeps empty lines in a list without a limit, and skips one of them per turn of the event loop.
 */
export function limitEmptyLines(connection: SmtpConnection): void {
  const receive = bindMethod(connection, '_onData')
  const refuse = bindMethod(connection, '_onResponseTooLarge')
  const lines = new EmptyLines()
  Object.assign(connection, {
    _onData: (chunk: Buffer) => {
      if (lines.count(chunk) > MAX_EMPTY_LINES) refuse()
      else receive(chunk)
    },
  })
}

/** nodemailer has no public hook for what arrives. A version without this method must fail every test that sends. */
function bindMethod(connection: SmtpConnection, name: string): (...values: unknown[]) => unknown {
  const method: unknown = Reflect.get(connection, name)
  if (typeof method !== 'function') throw new Error(`This version of nodemailer has no ${name}.`)
  return (...values) => Reflect.apply(method, connection, values)
}

/** Counts lines of white space that follow each other, across chunks. */
class EmptyLines {
  #following = 0
  #isEmpty = true

  /** Returns the most empty lines in a row that end within the chunk. */
  count(chunk: Buffer): number {
    let most = 0
    for (const byte of chunk) {
      if (byte === LINE_FEED) {
        this.#following = this.#isEmpty ? this.#following + 1 : 0
        this.#isEmpty = true
        most = Math.max(most, this.#following)
      } else if (byte > SPACE && byte !== NO_BREAK_SPACE) {
        this.#isEmpty = false
      }
    }
    return most
  }
}
