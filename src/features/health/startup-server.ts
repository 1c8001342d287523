import { once } from 'node:events'
import { createServer } from 'node:http'
import { errorBody } from '../../infra/http/index.ts'
import { AppError } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Phase } from './health.ts'

export interface WaitingRoom {
  /** The port it got, for the service to take over. */
  port: number
  /** Hangs up and frees the port; twice safely. */
  close(): Promise<void>
}

/**
 * Stands at the service's address while it waits for its data folder and migrates: alive, not ready, 503 to all else. The service
 * itself can answer nothing before then, not even who sends a good key.
 */
export async function waitingRoom(options: {
  host: string
  port: number
  ids: Ids
  phase(): Phase
}): Promise<WaitingRoom> {
  const server = createServer((request, response) => {
    const requestId = options.ids('req')
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.setHeader('x-request-id', requestId)
    response.setHeader('connection', 'close')
    if (request.url?.split('?')[0] === '/health/live') {
      response.end(JSON.stringify({ success: true, data: { status: 'alive' } }))
      return
    }
    const error = new AppError('not_ready', { message: `The service is ${options.phase()}.` })
    response.writeHead(error.status, { 'retry-after': '1' })
    response.end(JSON.stringify(errorBody(error, requestId)))
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
