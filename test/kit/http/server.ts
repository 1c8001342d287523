import { memoryCache } from '../../../src/platform/cache/index.ts'
import { type App, type Authenticator, createServer, type ServerOptions } from '../../../src/platform/http/index.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'

/** A server without routes and database. `Bearer good` has every scope, `Bearer reader` only `read`. */
export function testServer(options: Partial<ServerOptions> = {}): App {
  return createServer({
    log: silentLog,
    ids: idGenerator(systemClock),
    publicUrl: 'http://localhost:8080',
    authenticator: knownKeys,
    idempotency: { isWriting: () => true },
    rateLimits: { cache: memoryCache({ clock: systemClock }) },
    trustedProxies: [],
    ...options,
  })
}

const knownKeys: Authenticator = {
  async authenticate({ headers: { authorization } }) {
    if (authorization === 'Bearer good') return { owner: 'good', scopes: ['read', 'write', 'admin'] }
    if (authorization === 'Bearer reader') return { owner: 'reader', scopes: ['read'] }
    return undefined
  },
}
