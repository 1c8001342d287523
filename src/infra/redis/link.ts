import { Redis } from 'ioredis'
import { sleep, withTimeout } from '../../lib/abort.ts'
import { type Backoff, backoffMs } from '../../lib/retry.ts'
import type { Log } from '../log/index.ts'
import { serverProblem } from './server.ts'

export type Connection = Redis

export interface RedisLinkOptions {
  url: string
  log: Log
  /** How long the start waits for a server that does not answer. Default 30,000. */
  startMs?: number
}

/** The connections of one process to one Redis. */
export interface RedisLink {
  /** For single commands: each answers or rejects within 5 s, and rejects at once while the connection is away. */
  readonly commands: Connection
  /** Another connection, closed with the link. A patient one keeps its commands until the connection is back. */
  connect(name: string, patience?: 'patient'): Connection
  /** The key under which `parts` stand in Redis. */
  key(...parts: string[]): string
  /** Resolves when Redis answers, and takes what is written: one whose memory or disk is full answers, and does nothing. */
  ping(): Promise<void>
  /** Resolves when commands can be given; rejects after 10 s. */
  ready(): Promise<void>
  /** Twice safely; whatever is still asked of Redis is rejected. */
  close(): Promise<void>
}

const PREFIX = 'posthorn'
const START_MS = 30_000
const COMMAND_MS = 5000
const CONNECT_MS = 10_000
/** A connection that a firewall dropped looks like a silent one until it is asked. */
const PROBE_EVERY_MS = 10_000
const PROBE_MS = 3000
/** A key that only says whether keys can be written. */
const ALIVE_MS = 60_000
const RECONNECT: Backoff = { baseMs: 50, capMs: 3000 }

/**
 * Waits for the server, at most `startMs`, then connects; later losses are repaired in the background, without end. Throws
 * at once when waiting does not help: a wrong password, a server that is too old.
 */
export async function openRedis(options: RedisLinkOptions, aborted?: AbortSignal): Promise<RedisLink> {
  await waitForServer(options, aborted)
  const link = new Link(options)
  try {
    await link.ready()
    return link
  } catch (error) {
    await link.close()
    throw error
  }
}

class Link implements RedisLink {
  readonly commands: Connection
  readonly #options: RedisLinkOptions
  readonly #connections = new Set<Connection>()
  readonly #probe: NodeJS.Timeout
  #isLost = false

  constructor(options: RedisLinkOptions) {
    this.#options = options
    this.commands = this.connect('commands')
    this.commands.on('close', () => this.#lost())
    this.commands.on('ready', () => this.#back())
    this.#probe = setInterval(() => this.#probeAll(), PROBE_EVERY_MS)
  }

  async ready(): Promise<void> {
    if (this.commands.status === 'ready') return
    let isReady = () => {}
    const ready = new Promise<void>((resolve) => {
      isReady = resolve
    })
    this.commands.once('ready', isReady)
    try {
      await withTimeout(ready, CONNECT_MS, () => new Error('Redis (REDIS_URL) accepted no connection.'))
    } finally {
      this.commands.off('ready', isReady)
    }
  }

  connect(name: string, patience?: 'patient'): Connection {
    const connection = new Redis(this.#options.url, {
      ...SHARED,
      connectionName: `${PREFIX}-${name}`,
      retryStrategy: (attempt) => backoffMs(attempt, RECONNECT),
      // Waiting commands would pile up through a long absence; only BullMQ's few connections may keep theirs.
      enableOfflineQueue: patience === 'patient',
      ...(patience !== 'patient' && { commandTimeout: COMMAND_MS }),
    })
    // Said once by `#lost`; the event must have a listener all the same.
    connection.on('error', () => {})
    this.#connections.add(connection)
    return connection
  }

  key(...parts: string[]): string {
    return [PREFIX, ...parts].join(':')
  }

  async ping(): Promise<void> {
    const written = this.commands.set(this.key('alive'), '1', 'PX', ALIVE_MS)
    await withTimeout(written, PROBE_MS, () => new Error('Redis does not answer.'))
  }

  #probeAll(): void {
    for (const connection of this.#connections) {
      if (connection.status !== 'ready') continue
      withTimeout(connection.ping(), PROBE_MS, () => new Error('silent')).catch(() => {
        if (connection.status === 'ready') connection.disconnect(true)
      })
    }
  }

  #lost(): void {
    if (this.#isLost || !this.#connections.has(this.commands)) return
    this.#isLost = true
    this.#options.log.warn('Redis is out of reach; the service goes on with less, and reconnects.', OPERATION)
  }

  #back(): void {
    if (!this.#isLost) return
    this.#isLost = false
    this.#options.log.info('Redis answers again.', OPERATION)
  }

  async close(): Promise<void> {
    clearInterval(this.#probe)
    const connections = [...this.#connections]
    this.#connections.clear()
    for (const connection of connections) connection.disconnect()
  }
}

const OPERATION = { operation: 'redis.connection' }

const SHARED = {
  connectTimeout: CONNECT_MS,
  keepAlive: 30_000,
  // BullMQ insists: what was under way when the connection broke is sent again.
  maxRetriesPerRequest: null,
  autoResubscribe: false,
  // After a failover the old primary still answers, but takes nothing.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
}

async function waitForServer({ url, log, startMs = START_MS }: RedisLinkOptions, aborted?: AbortSignal): Promise<void> {
  const deadline = performance.now() + startMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryServer(url, log)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (isFinal(message)) throw new Error(`Redis (REDIS_URL) refuses: ${message}`)
      if (aborted?.aborted || performance.now() > deadline) {
        throw new Error(`Redis (REDIS_URL) does not answer: ${message}`)
      }
      if (attempt === 1) log.warn('Redis (REDIS_URL) does not answer yet; waiting for it.', { ...OPERATION, error })
    }
    await sleep(backoffMs(attempt, RECONNECT), aborted)
  }
}

/** Connects once, and looks whether this server will do. */
async function tryServer(url: string, log: Log): Promise<void> {
  const connection = new Redis(url, { ...SHARED, lazyConnect: true, retryStrategy: () => null })
  let cause: unknown
  connection.on('error', (error) => {
    cause ??= error
  })
  try {
    await withTimeout(connection.connect(), CONNECT_MS, () => new Error('no answer'))
    const info = await withTimeout(connection.info(), COMMAND_MS, () => new Error('no answer'))
    const problem = serverProblem(info)
    if (problem?.isFatal) throw new Error(problem.message)
    if (problem !== undefined) log.warn(problem.message, OPERATION)
  } catch (error) {
    throw cause ?? error
  } finally {
    connection.disconnect()
  }
}

/** Waiting cannot help. */
const isFinal = (message: string) =>
  /WRONGPASS|NOAUTH|NOPERM|invalid password|DB index|is needed|certificate/.test(message)
