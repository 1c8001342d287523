import { isIP, type Socket } from 'node:net'
import { buildConnector, type CheckedTarget, Pool } from '../net/index.ts'
import { ConnectFailure } from './failure.ts'

export interface PoolLimits {
  /** Connections of one owner (`connectionsOf`) to one address of an origin. More requests wait. */
  perOrigin: number
  /** Origins whose connections stay open. */
  origins: number
  /** Connections to all origins. Above this, an idle pool is closed before a new connection opens. */
  sockets: number
}

/** The connections of one owner to one origin. The caller counts its requests in `inFlight`. */
export interface PoolEntry {
  pool: Pool
  inFlight: number
}

const CONNECT_MS = 10_000
const MAX_TLS_SESSIONS = 2000

/** Keep-alive connections to checked addresses. Closes the least recently used idle ones first. */
export class OutboundPools {
  readonly #limits: PoolLimits
  /** In order of last use. */
  readonly #pools = new Map<string, PoolEntry>()
  readonly #connector: buildConnector.connector
  #sockets = 0

  constructor(limits: PoolLimits, ca: string | undefined) {
    this.#limits = limits
    this.#connector = buildConnector({
      timeout: CONNECT_MS,
      maxCachedSessions: MAX_TLS_SESSIONS,
      ...(ca === undefined ? {} : { ca }),
    })
  }

  /** Open connections. */
  get sockets(): number {
    return this.#sockets
  }

  of(protocol: 'http:' | 'https:', target: CheckedTarget, owner = ''): PoolEntry {
    const key = `${protocol}${target.host}:${target.port} ${target.address} ${owner}`
    const entry = this.#pools.get(key) ?? { pool: this.#open(protocol, target), inFlight: 0 }
    this.#pools.delete(key)
    this.#pools.set(key, entry)
    if (this.#pools.size > this.#limits.origins) this.#closeIdle(entry)
    return entry
  }

  #open(protocol: string, { host, port, address }: CheckedTarget): Pool {
    const name = isIP(host) === 6 ? `[${host}]` : host
    return new Pool(`${protocol}//${name}:${port}`, {
      connections: this.#limits.perOrigin,
      // The timeout of the request covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) => {
        if (this.#sockets >= this.#limits.sockets) this.#closeIdle(undefined)
        // Connects to the checked address: another name lookup could return a different one.
        const { servername: _fromHeader, ...rest } = options
        const pinned = { ...rest, hostname: address, ...(isIP(host) === 0 ? { servername: host } : {}) }
        this.#count(
          this.#connector(pinned, (...[error, socket]) => {
            if (error !== null) callback(new ConnectFailure(error), null)
            else callback(null, socket)
          }),
        )
      },
    })
  }

  /** undici's types do not say that the connector returns the socket. */
  #count(connection: unknown): void {
    const socket = connection as Socket
    this.#sockets += 1
    socket.once('close', () => {
      this.#sockets -= 1
    })
  }

  #closeIdle(except: PoolEntry | undefined): void {
    for (const [key, entry] of this.#pools) {
      if (entry.inFlight > 0 || entry === except) continue
      this.#pools.delete(key)
      void entry.pool.close()
      return
    }
  }

  async destroy(reason: Error): Promise<void> {
    const all = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(all.map(({ pool }) => pool.destroy(reason)))
  }
}
