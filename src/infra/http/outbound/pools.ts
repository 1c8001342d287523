import { isIP, type Socket } from 'node:net'
import { buildConnector, Pool } from 'undici'
import type { CheckedTarget } from '../../net/index.ts'
import { ConnectFailure } from './failure.ts'

export interface PoolLimits {
  /** Connections of one user (`connectionsOf`) to one address of one origin; more requests wait in line. */
  perOrigin: number
  /** Origins whose connections are kept. */
  origins: number
  /** Connections over all origins; beyond it, idle ones are closed before new ones are made. */
  sockets: number
}

/** A kept origin; `inFlight` is counted by whoever uses it. */
export interface KeptPool {
  pool: Pool
  inFlight: number
}

const CONNECT_MS = 10_000
const MAX_TLS_SESSIONS = 2000

/** Keep-alive connections to addresses that were checked: the least recently used go first. */
export class OutboundPools {
  readonly #limits: PoolLimits
  /** In the order of their last use. */
  readonly #pools = new Map<string, KeptPool>()
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

  /** Connections made and not yet closed. */
  get sockets(): number {
    return this.#sockets
  }

  of(protocol: 'http:' | 'https:', target: CheckedTarget, user = ''): KeptPool {
    const key = `${protocol}${target.host}:${target.port} ${target.address} ${user}`
    const kept = this.#pools.get(key) ?? { pool: this.#open(protocol, target), inFlight: 0 }
    this.#pools.delete(key)
    this.#pools.set(key, kept)
    if (this.#pools.size > this.#limits.origins) this.#dropIdle(kept)
    return kept
  }

  #open(protocol: string, { host, port, address }: CheckedTarget): Pool {
    const name = isIP(host) === 6 ? `[${host}]` : host
    return new Pool(`${protocol}//${name}:${port}`, {
      connections: this.#limits.perOrigin,
      // The request's own limit covers everything; these two would only cost timers.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) => {
        if (this.#sockets >= this.#limits.sockets) this.#dropIdle(undefined)
        // The pinned address, never the name: nothing resolves again between the check and the connection.
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

  /** The type of the connector says nothing; it answers the socket. */
  #count(made: unknown): void {
    const socket = made as Socket
    this.#sockets += 1
    socket.once('close', () => {
      this.#sockets -= 1
    })
  }

  #dropIdle(spared: KeptPool | undefined): void {
    for (const [key, kept] of this.#pools) {
      if (kept.inFlight > 0 || kept === spared) continue
      this.#pools.delete(key)
      void kept.pool.close()
      return
    }
  }

  async destroy(reason: Error): Promise<void> {
    const all = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(all.map(({ pool }) => pool.destroy(reason)))
  }
}
