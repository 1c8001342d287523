import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError, FastifyInstance } from 'fastify'
import type { Ids } from '../../../lib/ids.ts'

const CLIENT_ERRORS: Record<string, readonly [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
}

/**
 * Responds to bytes that Node cannot parse: not HTTP, oversized headers, or a request that never ends. No request object
 * exists then, so the error response is written to the socket.
 */
export function clientErrorHandler(ids: Ids): (error: ConnectionError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy()
      return
    }
    const [status, message] = CLIENT_ERRORS[error.code] ?? [400, 'The request is not valid HTTP.']
    const requestId = ids('req')
    const body = JSON.stringify({
      success: false,
      error: { code: 'validation_failed', type: 'api', message, details: [] },
      requestId,
    })
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
}

/**
 * Ends each connection with its next response once the server is closing. Otherwise a connection that was busy then would
 * stay open until its keep-alive timeout and delay the close.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    if (isClosing) reply.header('connection', 'close')
    return payload
  })
  app.addHook('onResponse', async () => {
    // For a response whose headers were sent before closing began. Node counts its connection as idle one turn later.
    if (isClosing) setImmediate(() => app.server.closeIdleConnections())
  })
}

/** Stops accepting connections, finishes running requests, and cuts off those that still run after `drainMs`. */
export async function closeServer(app: Pick<FastifyInstance, 'close' | 'server'>, drainMs: number): Promise<void> {
  const limit = setTimeout(() => app.server.closeAllConnections(), drainMs)
  try {
    await app.close()
  } finally {
    clearTimeout(limit)
  }
}
