import { isProgrammingError } from '../../../platform/errors/programming-errors.ts'
import type { ImapClient } from '../connection/client.ts'
import { connectionLost, providerError, timeoutError } from '../errors.ts'
import { type Listing, repeatedListing } from '../folders/folders.ts'

interface FolderPollOptions {
  /** How long the server may take to end the IDLE. */
  checkTimeoutMs: number
  /** How long a server that has ended it may take to complete the listing. */
  silenceMs: number
  serial: SerialServers
}

/** Servers that are slow to answer commands sent right after the end of an IDLE, or ignore them. Remembered per process, so that each is tried once. */
export interface SerialServers {
  includes(client: ImapClient): boolean
  add(client: ImapClient): void
}

const DOING = 'checking the folders'

/** Lists the folders in the middle of an IDLE, see `IdlePoll`. The connection closes when the server takes longer than a command may. */
export class FolderPolls {
  readonly #client: ImapClient
  readonly #options: FolderPollOptions
  #running: Promise<unknown> | undefined
  #abandon: (() => void) | undefined

  constructor(client: ImapClient, options: FolderPollOptions) {
    this.#client = client
    this.#options = options
  }

  /** Settles with the listing in progress, and never rejects. */
  get running(): Promise<unknown> | undefined {
    return this.#running
  }

  /** Returns undefined where single commands must list, and resolves with undefined when the list was not the last one again. Call it in IDLE only. */
  start(): Promise<Listing | undefined> | undefined {
    if (this.#running !== undefined || this.#options.serial.includes(this.#client)) return undefined
    const listing = repeatedListing(this.#client)
    if (listing === undefined) return undefined
    const stopTimer = this.#limit()
    const abandoned = new Promise<never>((_resolve, reject) => {
      this.#abandon = () => {
        const why = this.#client.failure() ?? connectionLost(`${DOING}: the connection is closed`)
        reject(isProgrammingError(why) ? why : providerError(why, DOING))
      }
    })
    const poll = Promise.race([listing, abandoned]).finally(() => {
      stopTimer()
      this.#abandon = this.#running = undefined
    })
    this.#running = poll.catch(() => {})
    return poll
  }

  /** The connection is closed. */
  abandon(): void {
    this.#abandon?.()
  }

  #limit(): () => void {
    const { checkTimeoutMs, silenceMs, serial } = this.#options
    const close = (ms: number) => this.#client.closeWith(timeoutError(DOING, ms))
    let timer = setTimeout(() => {
      if (!this.#client.idle.isBehind) return close(checkTimeoutMs)
      serial.add(this.#client)
      timer = setTimeout(() => close(silenceMs), silenceMs - checkTimeoutMs)
    }, checkTimeoutMs)
    return () => clearTimeout(timer)
  }
}
