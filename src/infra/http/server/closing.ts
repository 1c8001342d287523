import type { FastifyInstance } from 'fastify'

/**
 * A connection that was busy when closing began would stay open, idle, until its keep-alive time ends, and hold the
 * close up for as long: each answer from then on ends its connection.
 */
export function closeConnectionsAtLast(app: FastifyInstance): void {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    if (closing) reply.header('connection', 'close')
    return payload
  })
  app.addHook('onResponse', async () => {
    // For an answer whose headers were out before closing began; its connection counts as idle one turn later.
    if (closing) setImmediate(() => app.server.closeIdleConnections())
  })
}

/**
 * Stops accepting, finishes what runs, and cuts off what still runs after `drainMs`: a download that trickles must not
 * hold the stop up.
 */
export async function closeServer(app: Pick<FastifyInstance, 'close' | 'server'>, drainMs: number): Promise<void> {
  const limit = setTimeout(() => app.server.closeAllConnections(), drainMs)
  try {
    await app.close()
  } finally {
    clearTimeout(limit)
  }
}
