import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../platform/http/index.ts'
import type { SendRequest } from './rest-api.ts'

/** Headers that say who calls, and through which proxies. */
const PASSED_ON = [
  'authorization',
  'x-api-key',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'forwarded',
  'user-agent',
]

/**
 * Sends requests to the routes of this server, as the caller of `request`. They pass the access, limits, validation and audit
 * of their routes, under the request id of the call with a number.
 */
export function requestsInProcess(app: App, request: FastifyRequest): SendRequest {
  const identity: Record<string, string> = {}
  for (const name of PASSED_ON) {
    const value = request.headers[name]
    if (typeof value === 'string') identity[name] = value
  }
  let count = 0
  return async ({ method, path, headers, body, signal }) => {
    count += 1
    const response = await app.inject({
      method,
      url: path,
      headers: { ...identity, ...headers, 'x-request-id': `${request.id}.${count}` },
      ...(body !== undefined && { payload: body }),
      remoteAddress: request.socket.remoteAddress ?? request.ip,
      signal,
      payloadAsStream: true,
    })
    const received = new Headers()
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) received.set(name, String(value))
    }
    return new Response(Readable.toWeb(response.stream()) as ReadableStream<Uint8Array>, {
      status: response.statusCode,
      headers: received,
    })
  }
}
