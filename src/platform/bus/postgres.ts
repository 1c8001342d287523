import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { type Db, openPostgresSession, type PostgresSession } from '../db/index.ts'
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
/** Probing detects a connection that a firewall dropped silently. */
const PROBE_EVERY_MS = 20_000
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
  readonly #pending = new Set<string>()
  #sending: Promise<void> | undefined
  #dropped = 0
  #session: PostgresSession | undefined
  #isClosed = false
  #probe: NodeJS.Timeout | undefined

  constructor(options: PostgresBusOptions) {
    this.#options = options
    this.#local = listeners(options.log)
    this.subscribe = this.#local.subscribe
    this.reportInvalid = this.#local.reportInvalid
  }

  readonly subscribe: Bus['subscribe']
  readonly reportInvalid: (topic: string) => void

  async open(): Promise<void> {
    const { url, log } = this.#options
    const operation = 'bus.listen'
    this.#session = await openPostgresSession({
      url,
      name: 'posthorn-bus',
      prepare: async (connection) => void (await connection.query(`listen ${CHANNEL}`)),
      onNotification: (message) => this.#receive(message),
      onLost: (error) => log.warn('The bus lost its connection to PostgreSQL and reconnects.', { operation, error }),
      onReconnect: () => {
        log.info('The bus reconnected to PostgreSQL.', { operation })
        this.#local.deliverLoss()
      },
      onRetryFailed: (error, attempt) =>
        log.debug('The bus could not reconnect.', { operation, error, metadata: { attempt } }),
    })
    this.#probe = setInterval(() => void this.ping().catch((error) => this.#session?.reset(error)), PROBE_EVERY_MS)
  }

  publish(topic: string, payload = ''): void {
    if (this.#isClosed || !isSendable(topic, payload, this.#options.log)) return
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
    const values = db.dialect.rows(
      { message: 'text' },
      messages.map((message) => ({ message })),
    )
    await sql`select pg_notify(${CHANNEL}, "message") from ${values} as "given"`.execute(db.read)
  }

  #warnDropped(hints: number, error: unknown): void {
    const message = 'Hints to other instances were dropped. They will poll for changes, with a delay.'
    this.#options.log.warn(message, { operation: 'bus.publish', error, metadata: { hints } })
  }

  async ping(): Promise<void> {
    if (this.#session?.isUp !== true || this.#isClosed) throw new Error('The bus is not connected to PostgreSQL.')
    await this.#session.query('select 1')
  }

  #receive(message: string): void {
    this.#local.receive(message, this.#sender)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#probe)
    this.#local.clear()
    await this.#session?.close()
    await this.#sending
  }
}
