import type { IncomingMessage } from 'node:http'
import type { Ids } from '../../../lib/ids.ts'

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's `X-Request-Id` when it is one we may put into logs and headers, else a new one. */
export function requestId(ids: Ids): (request: IncomingMessage) => string {
  return (request) => {
    const sent = request.headers['x-request-id']
    return typeof sent === 'string' && ACCEPTED.test(sent) ? sent : ids('req')
  }
}
