import pg from 'pg'
import { sleep, withTimeout } from '../../concurrency/abort.ts'

export interface SilenceWatchOptions {
  url: string
  /** A statement that runs this long makes the watch ask the server whether it still responds. Default 5,000. */
  afterMs?: number
  /** How long the server may take to respond. Default 3,000. */
  probeMs?: number
}

const AFTER_MS = 5000
const PROBE_MS = 3000
/** Between two probes of a server that is silent. */
const PAUSE_MS = 500

/**
 * Finds out that the server is frozen or that the network swallows everything, which no statement notices by itself: it would wait until
 * its timeout of a minute. Asks over a new connection, so that a long statement of a server that responds goes on.
 */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions
  readonly #closed = new AbortController()
  /** Functions that end each running statement, and when it began, in this order. */
  readonly #running = new Map<() => void, number>()
  #timer: NodeJS.Timeout | undefined
  #probing: Promise<void> | undefined
  #isSilent = false

  constructor(options: SilenceWatchOptions) {
    this.#options = options
  }

  /** True from a probe without a response to one that got one. */
  get isSilent(): boolean {
    return this.#isSilent
  }

  /** Calls `end` if the server turns out to be silent. Returns the function that ends the watch of this statement. */
  watch(end: () => void): () => void {
    this.#running.set(end, performance.now())
    this.#timer ??= setTimeout(() => this.#check(), this.#afterMs)
    return () => this.#running.delete(end)
  }

  async close(): Promise<void> {
    this.#closed.abort()
    clearTimeout(this.#timer)
    await this.#probing
  }

  get #afterMs(): number {
    return this.#options.afterMs ?? AFTER_MS
  }

  #check(): void {
    this.#timer = undefined
    const [oldest] = this.#running.values()
    if (oldest === undefined || this.#closed.signal.aborted) return
    const waitMs = oldest + this.#afterMs - performance.now()
    if (waitMs <= 0) this.#probing ??= this.#probe()
    this.#timer = setTimeout(() => this.#check(), waitMs > 0 ? waitMs : this.#afterMs)
  }

  /** Ends with the first response. */
  async #probe(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      const isAlive = await responds(this.#options.url, this.#options.probeMs ?? PROBE_MS)
      this.#isSilent = !isAlive
      if (isAlive) break
      this.#endLate()
      await sleep(PAUSE_MS, this.#closed.signal)
    }
    this.#isSilent = false
    this.#probing = undefined
  }

  #endLate(): void {
    const beganBefore = performance.now() - this.#afterMs
    for (const [end, beganAt] of [...this.#running]) {
      if (beganAt > beganBefore) continue
      this.#running.delete(end)
      end()
    }
  }
}

/** Any response counts, such as that there are too many connections. */
async function responds(url: string, limitMs: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, application_name: 'posthorn-probe' })
  client.on('error', () => {})
  const asked = client.connect().then(() => client.query('select 1'))
  try {
    await withTimeout(asked, limitMs, () => new Error('no response'))
    return true
  } catch (error) {
    return error instanceof pg.DatabaseError
  } finally {
    asked.catch(() => {})
    // Sends the goodbye, which nobody waits for. Without a connection it never resolves.
    client.end().catch(() => {})
  }
}
