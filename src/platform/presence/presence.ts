import { createHash } from 'node:crypto'
import { openPostgresSession, type PostgresConnection, type PostgresSession } from '../db/index.ts'
import type { Log } from '../log/index.ts'

/** Presence of processes. Only what is present is certain: a process may live without its lock, for example while it reconnects. */
export interface Presence {
  /** The key of this process while it holds its lock. Undefined while it reconnects, and where locks do not work. */
  readonly key: string | undefined
  /** The connection ends at a pooler, which may pass a lock from process to process. Then no process uses locks. */
  readonly isPooled: boolean
  /** Reads the keys of all processes that are present. Undefined when the server does not respond; then the session begins anew. */
  read(): Promise<PresenceView | undefined>
  /** Called when this process lost its lock or took it again. */
  onChange(listener: () => void): void
  /** Releases the lock. Twice safely. */
  close(): Promise<void>
}

export interface PresenceView {
  keys: ReadonlySet<string>
  /** How long this session has lasted. A restart of the server releases every lock and ends every session. */
  sessionMs: number
}

interface PresenceOptions {
  url: string
  instanceId: string
  /** Milliseconds that never step. */
  monotonic(): number
  log: Log
}

/** The first half of every key; the second is a hash of the instance id. Shared locks: two ids with one hash do no harm. */
const NAMESPACE = 0x706f7374
/** The server notices within 11 s that the machine of a process is gone, not after hours. */
const KEEP_ALIVE = ['set tcp_keepalives_idle = 5', 'set tcp_keepalives_interval = 2', 'set tcp_keepalives_count = 3']
const OPERATION = 'instances.presence'

/** Never rejects for lack of a connection: it is made in the background then. */
export async function openPresence(options: PresenceOptions): Promise<Presence> {
  const presence = new LockedPresence(options)
  await presence.open()
  return presence
}

class LockedPresence implements Presence {
  readonly #options: PresenceOptions
  readonly #lockId: number
  readonly #listeners: (() => void)[] = []
  #session: PostgresSession | undefined
  #isLocked = false
  #sinceMs = 0
  isPooled = false

  constructor(options: PresenceOptions) {
    this.#options = options
    // 31 bits, because the server shows the signed number unsigned.
    this.#lockId = createHash('sha256').update(options.instanceId).digest().readUInt32BE() >>> 1
  }

  get key(): string | undefined {
    return this.#isLocked ? String(this.#lockId) : undefined
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  async open(): Promise<void> {
    const { url, log } = this.#options
    this.#session = await openPostgresSession({
      url,
      name: 'posthorn-presence',
      optional: true,
      prepare: (connection) => this.#lock(connection),
      onLost: (error) => {
        this.#isLocked = false
        log.warn('Lost the connection that holds the lock of this instance; it reconnects.', {
          operation: OPERATION,
          error,
        })
        this.#notify()
      },
      onReconnect: () => {
        log.info('This instance holds its lock again.', { operation: OPERATION })
        this.#notify()
      },
      onRetryFailed: (error, attempt) =>
        log.debug('Cannot take the lock of this instance; it tries again.', {
          operation: OPERATION,
          error,
          metadata: { attempt },
        }),
    })
  }

  async read(): Promise<PresenceView | undefined> {
    const session = this.#session
    if (session?.isUp !== true || this.isPooled) return undefined
    const sessionMs = this.#options.monotonic() - this.#sinceMs
    try {
      const rows = await session.query<{ key: string }>(HELD, [NAMESPACE])
      const keys = new Set(rows.map((row) => row.key))
      if (this.key === undefined || keys.has(this.key)) return { keys, sessionMs }
      throw new Error('The lock of this instance was released.')
    } catch (error) {
      session.reset(error)
      return undefined
    }
  }

  async close(): Promise<void> {
    this.#listeners.length = 0
    await this.#session?.close()
    this.#isLocked = false
  }

  async #lock(connection: PostgresConnection): Promise<void> {
    const sinceMs = this.#options.monotonic()
    const [server] = await connection.query<{ pid: number }>('select pg_backend_pid() as pid')
    const wasPooled = this.isPooled
    this.isPooled = server?.pid !== connection.serverPid
    if (this.isPooled) {
      if (!wasPooled) this.#options.log.warn(POOLED, { operation: OPERATION })
      return
    }
    for (const statement of KEEP_ALIVE) await connection.query(statement)
    const [lock] = await connection.query<{ isTaken: boolean }>(TAKE, [NAMESPACE, this.#lockId])
    if (lock?.isTaken !== true) throw new Error('Another application on the database uses the lock of this instance.')
    this.#sinceMs = sinceMs
    this.#isLocked = true
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

const TAKE = 'select pg_try_advisory_lock_shared($1, $2) as "isTaken"'
const HELD = `select objid::text as key from pg_locks
  where locktype = 'advisory' and classid = $1 and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`
const POOLED =
  'DATABASE_URL leads to a connection pooler, so a dead instance is noticed after 30 s instead of 5 s. Connect to PostgreSQL directly.'
