import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import type { ConnectionError, FastifyInstance } from 'fastify'
import { type ErrorCode, errorDocUrl } from '../../errors/app-error.ts'
import type { Ids } from '../../ids.ts'
import type { Log } from '../../log/index.ts'
import { clientBlock } from './requests/rate-limit.ts'

const CLIENT_ERRORS: Record<string, readonly [status: number, code: ErrorCode, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: [431, 'validation_failed', 'The headers are too large.'],
}

/**
 * Responds to bytes that Node cannot parse: not HTTP, oversized headers, or a request that never ends. No request object
 * exists then, so the error response is written to the socket.
 */
export function clientErrorHandler(ids: Ids, publicUrl: string): (error: ConnectionError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy()
      return
    }
    const [status, code, message] = CLIENT_ERRORS[error.code] ?? [
      400,
      'validation_failed',
      'The request is not valid HTTP.',
    ]
    const requestId = ids('req')
    const body = JSON.stringify({
      success: false,
      error: { code, type: 'api', message, docUrl: errorDocUrl(publicUrl, code), details: [] },
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

interface ConnectionLimits {
  max: number
  /** A proxy opens the connections of many clients. */
  trustedProxies: readonly string[]
  log: Log
}

/** One address, such as a client that keeps many requests open, takes at most this part of all connections. */
const ADDRESS_SHARE = 4
const WARN_EVERY_MS = 60_000

/** Refuses connections above the limits. Above `max`, idle connections are closed, so that new clients get in. */
export function limitConnections({ server }: FastifyInstance, { max, trustedProxies, log }: ConnectionLimits): void {
  const perAddress = Math.ceil(max / ADDRESS_SHARE)
  const isProxy = proxyAddr.compile([...trustedProxies])
  const open = new Map<string, number>()
  let warnedAt = Number.NEGATIVE_INFINITY
  const warn = (message: string) => {
    const nowMs = performance.now()
    if (nowMs - warnedAt < WARN_EVERY_MS) return
    warnedAt = nowMs
    log.warn(message, { operation: 'http.connections' })
  }

  server.maxConnections = max
  server.on('drop', () => {
    server.closeIdleConnections()
    warn(`Refused a connection: ${max} are open. Raise MAX_CONNECTIONS if the clients are yours.`)
  })
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || isProxy(remoteAddress, 0)) return
    const client = clientBlock(remoteAddress)
    const count = (open.get(client) ?? 0) + 1
    if (count > perAddress) {
      socket.destroy()
      warn(`Refused a connection: ${client} has ${perAddress} open. If it is your proxy, add it to TRUSTED_PROXIES.`)
      return
    }
    open.set(client, count)
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1
      if (left === 0) open.delete(client)
      else open.set(client, left)
    })
  })
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
