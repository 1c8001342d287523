import { once } from 'node:events'
import { createServer } from 'node:http'
import { AppError } from '../../platform/errors/app-error.ts'
import { errorBody } from '../../platform/http/index.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Phase } from './health.ts'
import { type StartupFacts, startupHealth } from './startup-health.ts'

export interface StartupServer {
  /** The port on which it listens, which the service takes over. */
  port: number
  /** Closes the connections and frees the port. Twice safely. */
  close(): Promise<void>
}

/**
 * Listens on the service's address while the service waits for its data folder, its database and Redis, and migrates. It reports the
 * process as alive and its health as degraded, and responds to everything else with 503, because no API key can be checked yet.
 */
export async function startupServer(options: {
  host: string
  port: number
  publicUrl: string
  ids: Ids
  phase(): Phase
  facts: StartupFacts
}): Promise<StartupServer> {
  const found = (url = '') => {
    const path = url.split('?')[0]
    if (path === '/health') return startupHealth(options.facts)
    return path === '/health/live' ? { status: 'alive' } : undefined
  }
  const server = createServer((request, response) => {
    const requestId = options.ids('req')
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.setHeader('x-request-id', requestId)
    response.setHeader('connection', 'close')
    const data = request.method === 'GET' || request.method === 'HEAD' ? found(request.url) : undefined
    if (data !== undefined) {
      response.setHeader('cache-control', 'no-store')
      response.end(JSON.stringify({ success: true, data }))
      return
    }
    const error = new AppError('not_ready', { message: `The service is ${options.phase()}.` })
    response.writeHead(error.status, { 'retry-after': '1' })
    response.end(JSON.stringify(errorBody(error, requestId, options.publicUrl)))
  })
  server.listen(options.port, options.host)
  await once(server, 'listening')
  const address = server.address()
  let closing: Promise<void> | undefined
  return {
    port: address !== null && typeof address === 'object' ? address.port : options.port,
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      return closing
    },
  }
}
