import { randomBytes } from 'node:crypto'
import { withTimeout } from '../concurrency/abort.ts'
import type { Log } from '../log/index.ts'
import type { Connection, RedisLink } from '../redis/index.ts'
import type { Bus } from './bus.ts'
import { isSendable, listeners } from './listeners.ts'

export interface RedisBusOptions {
  redis: RedisLink
  log: Log
}

const LISTEN_MS = 5000
const MAX_IN_FLIGHT = 10_000

/** Resolves when it is subscribed. Afterwards it reconnects in the background until it is closed. */
export async function openRedisBus(options: RedisBusOptions): Promise<Bus> {
  const bus = new RedisBus(options)
  await bus.open()
  return bus
}

/**
 * Hints over PUBLISH, with one channel for all topics. A message is `sender\ntopic\npayload`. This process receives its own hints
 * directly and ignores their echo.
 */
class RedisBus implements Bus {
  readonly provider = 'redis'
  readonly #redis: RedisLink
  readonly #log: Log
  readonly #channel: string
  readonly #sender = randomBytes(6).toString('base64url')
  readonly #local: ReturnType<typeof listeners>
  readonly #subscriber: Connection
  #isListening = false
  #onListening = () => {}
  #isClosed = false
  #inFlight = 0
  #dropped = 0

  constructor({ redis, log }: RedisBusOptions) {
    this.#redis = redis
    this.#log = log
    this.#channel = redis.key('bus')
    this.#local = listeners(log)
    this.subscribe = this.#local.subscribe
    this.reportInvalid = this.#local.reportInvalid
    this.#subscriber = redis.connect('bus')
    this.#subscriber.on('message', (_channel: string, message: string) => this.#receive(message))
    this.#subscriber.on('close', () => {
      this.#isListening = false
    })
  }

  readonly subscribe: Bus['subscribe']
  readonly reportInvalid: (topic: string) => void

  async open(): Promise<void> {
    const listening = new Promise<void>((resolve) => {
      this.#onListening = resolve
    })
    this.#subscriber.on('ready', () => void this.#listen())
    await withTimeout(listening, LISTEN_MS, () => new Error('The bus could not subscribe to Redis.'))
    this.#onListening = () => this.#local.deliverLoss()
  }

  /** Never rejects: a failed subscription drops the connection, and the next connection tries again. */
  async #listen(): Promise<void> {
    try {
      await this.#subscriber.subscribe(this.#channel)
      this.#isListening = true
      // Listeners poll after a reconnect and then need the command connection too.
      await this.#redis.ready()
      this.#onListening()
    } catch {
      if (!this.#isClosed) this.#subscriber.disconnect(true)
    }
  }

  publish(topic: string, payload = ''): void {
    if (this.#isClosed || !isSendable(topic, payload, this.#log)) return
    this.#local.deliver(topic, payload)
    if (this.#inFlight < MAX_IN_FLIGHT) this.#send(`${this.#sender}\n${topic}\n${payload}`)
    else this.#drop(new Error('too many hints were waiting'))
  }

  #send(message: string): void {
    this.#inFlight += 1
    this.#redis.commands
      .publish(this.#channel, message)
      .then(
        () => {
          this.#dropped = 0
        },
        (error: unknown) => this.#drop(error),
      )
      .finally(() => {
        this.#inFlight -= 1
      })
  }

  /** Logs once per outage. */
  #drop(error: unknown): void {
    this.#dropped += 1
    if (this.#dropped > 1 || this.#isClosed) return
    const message = 'Hints to other instances are dropped. They will poll for changes, with a delay.'
    this.#log.warn(message, { operation: 'bus.publish', error })
  }

  #receive(message: string): void {
    this.#local.receive(message, this.#sender)
  }

  async ping(): Promise<void> {
    if (!this.#isListening) throw new Error('The bus is not subscribed to Redis.')
    await this.#redis.ping()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#isListening = false
    this.#local.clear()
    this.#subscriber.disconnect()
  }
}
