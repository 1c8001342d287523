import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError } from 'fastify'
import type { Ids } from '../../../lib/ids.ts'

/**
 * Bytes that are not HTTP, headers that are too large, a request that never ends: there is no request object to answer, so
 * the bytes are written by hand, in the same form as every other error.
 */
export function answerBrokenConnection(ids: Ids): (error: ConnectionError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy()
      return
    }
    const [status, message] = WHAT_TO_SAY[error.code] ?? [400, 'This is not an HTTP request.']
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

const WHAT_TO_SAY: Record<string, readonly [number, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
}
