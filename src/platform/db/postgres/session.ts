import pg from 'pg'
import { sleep, withTimeout } from '../../concurrency/abort.ts'
import { type Backoff, backoffMs } from '../../concurrency/retry.ts'

export interface PostgresSessionOptions {
  url: string
  /** The `application_name`, by which operators find the connection. */
  name: string
  /** Prepares each new connection, before anything else uses it. When it rejects, the connection is closed and another one tried. */
  prepare(connection: PostgresConnection): Promise<void>
  /** Called after each reconnect, not after the first connection. */
  onReconnect(): void
  /** Called when the connection was lost. It reconnects by itself. */
  onLost(error: unknown): void
  onRetryFailed(error: unknown, attempt: number): void
  onNotification?(payload: string): void
}

/** A connection whose state, such as locks or LISTEN, matters. */
export interface PostgresConnection {
  /** The process of the server, as the server named it when the connection began; null if it did not. */
  readonly serverPid: number | null
  query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

const RECONNECT: Backoff = { baseMs: 100, capMs: 1000 }
const CONNECT_MS = 10_000
const QUERY_MS = 2000

/** One connection to PostgreSQL outside the pool, which reconnects in the background until it is closed. */
export class PostgresSession {
  readonly #options: PostgresSessionOptions
  readonly #closed = new AbortController()
  #client: pg.Client | undefined
  #reconnecting: Promise<void> | undefined

  constructor(options: PostgresSessionOptions) {
    this.#options = options
  }

  get isUp(): boolean {
    return this.#client !== undefined
  }

  /** Connects. Rejects when that fails; then nothing reconnects, unless `reconnect` is called. */
  async open(): Promise<void> {
    this.#client = await this.#connect()
  }

  /** Rejects while it is not connected, and when the server does not respond within two seconds. */
  async query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = this.#client
    if (client === undefined) throw new Error('The session is not connected to PostgreSQL.')
    return send<Row>(client, text, values)
  }

  /** Replaces the connection, which does not respond or has lost its state. */
  reset(error: unknown): void {
    this.#lost(this.#client, error)
  }

  /** Connects in the background, until it succeeds. */
  reconnect(): void {
    this.#reconnecting ??= this.#reconnect().finally(() => {
      this.#reconnecting = undefined
    })
  }

  async close(): Promise<void> {
    this.#closed.abort()
    const client = this.#client
    this.#client = undefined
    await this.#reconnecting
    if (client !== undefined) await end(client)
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      application_name: this.#options.name,
    })
    client.on('notification', ({ payload }) => this.#options.onNotification?.(payload ?? ''))
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client, undefined))
    try {
      await client.connect()
      await this.#options.prepare({
        // The driver has it, its types do not.
        serverPid: 'processID' in client && typeof client.processID === 'number' ? client.processID : null,
        query: (text, values = []) => send(client, text, values),
      })
      return client
    } catch (error) {
      void end(client)
      throw error
    }
  }

  #lost(client: pg.Client | undefined, error: unknown): void {
    if (client === undefined || client !== this.#client || this.#closed.signal.aborted) return
    this.#client = undefined
    this.#options.onLost(error)
    void end(client)
    this.reconnect()
  }

  async #reconnect(): Promise<void> {
    for (let attempt = 1; !this.#closed.signal.aborted; attempt += 1) {
      await sleep(backoffMs(attempt, RECONNECT), this.#closed.signal)
      if (this.#closed.signal.aborted) return
      try {
        const client = await this.#connect()
        if (this.#closed.signal.aborted) return void (await end(client))
        this.#client = client
        return this.#options.onReconnect()
      } catch (error) {
        this.#options.onRetryFailed(error, attempt)
      }
    }
  }
}

async function send<Row extends pg.QueryResultRow>(
  client: pg.Client,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const response = client.query<Row>(text, [...values])
  const { rows } = await withTimeout(response, QUERY_MS, () => new Error('PostgreSQL did not respond in 2 s.'))
  return rows
}

/** A connection that does not respond must not delay closing. */
async function end(client: pg.Client): Promise<void> {
  client.on('error', () => {})
  await withTimeout(client.end(), QUERY_MS, () => new Error('silent')).catch(() => {})
}
