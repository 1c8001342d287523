import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { sleep, withTimeout } from '../../lib/abort.ts'
import { type Backoff, backoffMs } from '../../lib/retry.ts'
import type { Db } from '../db/index.ts'
import type { Log } from '../log/index.ts'
import type { Bus } from './bus.ts'
import { isSendable, listeners } from './listeners.ts'

export interface PostgresBusOptions {
  url: string
  /** Its pool sends the hints. */
  db: Db
  log: Log
}

const CHANNEL = 'posthorn'
const RECONNECT: Backoff = { baseMs: 100, capMs: 5000 }
const CONNECT_MS = 10_000
/** Probing detects a connection that a firewall dropped silently. */
const PROBE_EVERY_MS = 20_000
const PROBE_MS = 2000
const MAX_PENDING = 10_000

/** Resolves when it is connected and listens. Afterwards it reconnects in the background until it is closed. */
export async function openPostgresBus(options: PostgresBusOptions): Promise<Bus> {
  const bus = new PostgresBus(options)
  await bus.open()
  return bus
}

/**
 * Hints over NOTIFY, with one channel for all topics and one listening connection. A message is `sender\ntopic\npayload`. This
 * process receives its own hints directly and ignores their echo.
 */
class PostgresBus implements Bus {
  readonly provider = 'postgres'
  readonly #options: PostgresBusOptions
  readonly #sender = randomBytes(6).toString('base64url')
  readonly #local: ReturnType<typeof listeners>
  readonly #closed = new AbortController()
  readonly #pending = new Set<string>()
  #sending: Promise<void> | undefined
  #dropped = 0
  #client: pg.Client | undefined
  #reconnecting: Promise<void> | undefined
  #probe: NodeJS.Timeout | undefined

  constructor(options: PostgresBusOptions) {
    this.#options = options
    this.#local = listeners(options.log)
    this.subscribe = this.#local.subscribe
  }

  readonly subscribe: Bus['subscribe']

  async open(): Promise<void> {
    this.#client = await this.#connect()
    this.#probe = setInterval(() => void this.ping().catch((error) => this.#lost(this.#client, error)), PROBE_EVERY_MS)
  }

  publish(topic: string, payload = ''): void {
    if (this.#closed.signal.aborted || !isSendable(topic, payload, this.#options.log)) return
    this.#local.deliver(topic, payload)
    // Identical pending hints are sent once.
    if (this.#pending.size < MAX_PENDING) this.#pending.add(`${this.#sender}\n${topic}\n${payload}`)
    else this.#dropped += 1
    this.#flush()
  }

  #flush(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
      if (this.#pending.size > 0) this.#flush() // Published after the loop in #sendAll had ended.
    })
  }

  async #sendAll(): Promise<void> {
    await Promise.resolve() // Sends the hints of one tick together.
    while (this.#pending.size > 0) {
      const messages = [...this.#pending]
      this.#pending.clear()
      try {
        await this.#send(messages)
      } catch (error) {
        this.#warnDropped(messages.length, error)
      }
      if (this.#dropped > 0) this.#warnDropped(this.#dropped, new Error('too many hints were waiting'))
      this.#dropped = 0
    }
  }

  async #send(messages: readonly string[]): Promise<void> {
    const { db } = this.#options
    const given = db.dialect.rows(
      { message: 'text' },
      messages.map((message) => ({ message })),
    )
    await sql`select pg_notify(${CHANNEL}, "message") from ${given} as "given"`.execute(db.read)
  }

  #warnDropped(hints: number, error: unknown): void {
    const message = 'Hints to other instances were dropped. They will poll for changes, with a delay.'
    this.#options.log.warn(message, { operation: 'bus.publish', error, metadata: { hints } })
  }

  async ping(): Promise<void> {
    const client = this.#client
    if (client === undefined) throw new Error('The bus is not connected to PostgreSQL.')
    await withTimeout(client.query('select 1'), PROBE_MS, () => new Error('PostgreSQL did not respond to the bus.'))
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      application_name: 'posthorn-bus',
    })
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''))
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client, undefined))
    try {
      await client.connect()
      await withTimeout(
        client.query(`listen ${CHANNEL}`),
        CONNECT_MS,
        () => new Error('PostgreSQL did not respond to LISTEN.'),
      )
      return client
    } catch (error) {
      void end(client)
      throw error
    }
  }

  #receive(message: string): void {
    const [sender, topic, ...rest] = message.split('\n')
    if (sender !== this.#sender && topic !== undefined) this.#local.deliver(topic, rest.join('\n'))
  }

  #lost(client: pg.Client | undefined, error: unknown): void {
    if (client === undefined || client !== this.#client || this.#closed.signal.aborted) return
    this.#client = undefined
    this.#options.log.warn('The bus lost its connection to PostgreSQL and reconnects.', {
      operation: 'bus.listen',
      error,
    })
    void end(client)
    this.#reconnecting ??= this.#reconnect().finally(() => {
      this.#reconnecting = undefined
    })
  }

  async #reconnect(): Promise<void> {
    for (let attempt = 1; !this.#closed.signal.aborted; attempt += 1) {
      await sleep(backoffMs(attempt, RECONNECT), this.#closed.signal)
      if (this.#closed.signal.aborted) return
      try {
        const client = await this.#connect()
        if (this.#closed.signal.aborted) return void (await end(client))
        this.#client = client
        this.#options.log.info('The bus reconnected to PostgreSQL.', { operation: 'bus.listen' })
        return this.#local.deliverLoss()
      } catch (error) {
        this.#options.log.debug('The bus could not reconnect.', {
          operation: 'bus.listen',
          error,
          metadata: { attempt },
        })
      }
    }
  }

  async close(): Promise<void> {
    this.#closed.abort()
    clearInterval(this.#probe)
    this.#local.clear()
    const client = this.#client
    this.#client = undefined
    await this.#reconnecting
    await this.#sending
    if (client !== undefined) await end(client)
  }
}

/** A connection that does not respond must not delay closing. */
async function end(client: pg.Client): Promise<void> {
  client.on('error', () => {})
  await withTimeout(client.end(), PROBE_MS, () => new Error('silent')).catch(() => {})
}
