import { Redis } from 'ioredis'
import { sleep, withTimeout } from '../concurrency/abort.ts'
import { type Backoff, backoffMs } from '../concurrency/retry.ts'
import { OperatorError } from '../errors/operator-error.ts'
import type { Log } from '../log/index.ts'

export type Connection = Redis

export interface RedisLinkOptions {
  url: string
  log: Log
  /** How long to wait for a server that does not respond at the start. Default 30,000. */
  startMs?: number
}

/** The connections of one process to one Redis. */
export interface RedisLink {
  /** For single commands. Each settles within 5 s and rejects at once while disconnected. */
  readonly commands: Connection
  /** Another connection, closed with the link. A patient one keeps its commands until it has reconnected. */
  connect(name: string, patience?: 'patient'): Connection
  /** The Redis key for `parts`. */
  key(...parts: string[]): string
  /** Resolves when Redis accepts a write. A server with full memory or disk still responds but stores nothing. */
  ping(): Promise<void>
  /** Resolves when commands can be sent; rejects after 10 s. */
  ready(): Promise<void>
  /** Rejects pending commands. Twice safely. */
  close(): Promise<void>
}

const PREFIX = 'posthorn'
const START_MS = 30_000
const COMMAND_MS = 5000
const CONNECT_MS = 10_000
/** Probing detects a connection that a firewall dropped silently. */
const PROBE_EVERY_MS = 10_000
const PROBE_MS = 3000
/** Lifetime of the key that `ping` writes. */
const ALIVE_MS = 60_000
const RECONNECT: Backoff = { baseMs: 50, capMs: 3000 }

/**
 * Waits for the server, at most `startMs`, then connects. Afterwards it reconnects in the background until it is closed. Throws at
 * once when waiting cannot help: a wrong password, or a server that is too old.
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
      await withTimeout(ready, CONNECT_MS, () => new OperatorError('Redis (REDIS_URL) did not accept a connection.'))
    } finally {
      this.commands.off('ready', isReady)
    }
  }

  connect(name: string, patience?: 'patient'): Connection {
    const connection = new Redis(this.#options.url, {
      ...SHARED,
      connectionName: `${PREFIX}-${name}`,
      retryStrategy: (attempt) => backoffMs(attempt, RECONNECT),
      // Queued commands would pile up during a long outage. Only BullMQ's few connections may queue them.
      enableOfflineQueue: patience === 'patient',
      ...(patience !== 'patient' && { commandTimeout: COMMAND_MS }),
    })
    // `#lost` logs the outage once, but the event must have a listener.
    connection.on('error', () => {})
    this.#connections.add(connection)
    return connection
  }

  key(...parts: string[]): string {
    return [PREFIX, ...parts].join(':')
  }

  async ping(): Promise<void> {
    const written = this.commands.set(this.key('alive'), '1', 'PX', ALIVE_MS)
    await withTimeout(written, PROBE_MS, () => new Error('Redis does not respond.'))
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
    this.#options.log.warn(
      'Redis (REDIS_URL) is unavailable. The service continues with reduced functionality and reconnects.',
      OPERATION,
    )
  }

  #back(): void {
    if (!this.#isLost) return
    this.#isLost = false
    this.#options.log.info('Redis is available again.', OPERATION)
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
  // Required by BullMQ: commands in flight are sent again after a reconnect.
  maxRetriesPerRequest: null,
  autoResubscribe: false,
  // After a failover the old primary still responds but rejects writes.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
}

async function waitForServer({ url, log, startMs = START_MS }: RedisLinkOptions, aborted?: AbortSignal): Promise<void> {
  const deadline = performance.now() + startMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryServer(url, log)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (isFinal(message)) throw new OperatorError(`Cannot use Redis (REDIS_URL): ${message}`)
      if (aborted?.aborted || performance.now() > deadline) {
        throw new OperatorError(`Redis (REDIS_URL) does not respond: ${message}`)
      }
      if (attempt === 1) log.warn('Redis (REDIS_URL) does not respond yet. Waiting for it.', { ...OPERATION, error })
    }
    await sleep(backoffMs(attempt, RECONNECT), aborted)
  }
}

/** Connects once and checks version and policy of the server. */
async function tryServer(url: string, log: Log): Promise<void> {
  const connection = new Redis(url, { ...SHARED, lazyConnect: true, retryStrategy: () => null })
  let cause: unknown
  connection.on('error', (error) => {
    cause ??= error
  })
  try {
    await withTimeout(connection.connect(), CONNECT_MS, () => new Error('no response'))
    const info = await withTimeout(connection.info(), COMMAND_MS, () => new Error('no response'))
    const problem = serverProblem(info)
    if (problem?.isFatal) throw new OperatorError(problem.message)
    if (problem !== undefined) log.warn(problem.message, OPERATION)
  } catch (error) {
    throw cause ?? error
  } finally {
    connection.disconnect()
  }
}

/** True for errors that waiting cannot fix. */
const isFinal = (message: string) =>
  /WRONGPASS|NOAUTH|NOPERM|invalid password|DB index|is needed|certificate/.test(message)

/** The problem of a server according to its INFO; undefined without one. Missing facts are not a problem. */
export function serverProblem(info: string): { message: string; isFatal: boolean } | undefined {
  const version = /^(?:valkey_version|redis_version):(\d+)\.(\d+)/m.exec(info)
  if (version !== null && Number(version[1]) * 100 + Number(version[2]) < OLDEST) {
    return {
      message: `Redis 6.2 or later is needed, but the server has version ${version[1]}.${version[2]}.`,
      isFatal: true,
    }
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
  if (policy === undefined || policy === 'noeviction') return undefined
  return {
    message: `Redis has the policy "${policy}" and may evict jobs when its memory is full. Set maxmemory-policy noeviction.`,
    isFatal: false,
  }
}

const OLDEST = 602
