import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../log/index.ts'
import type { Authenticator } from './access.ts'

export interface LastingResponsesDeps {
  authenticator: Authenticator
  log: Log
  /** How long a stream may outlive the access of its caller. */
  everyMs: number
}

/**
 * Ends responses that still run, such as event streams, when their caller loses access: the key was revoked or expired, or the
 * session ended. Checks again at an interval, because access also ends without an event.
 */
export function endWithAccess(app: FastifyInstance, { authenticator, log, everyMs }: LastingResponsesDeps): void {
  const running = new Map<FastifyRequest, FastifyReply>()
  /** Present at the last check, too. */
  let lasting: FastifyRequest[] = []
  let timer: NodeJS.Timeout | undefined
  let isChecking = false

  async function hasAccess(request: FastifyRequest): Promise<boolean> {
    try {
      return (await authenticator.authenticate(request, false)) !== undefined
    } catch {
      // The database is unavailable. The next check decides.
      return true
    }
  }

  async function check(): Promise<void> {
    if (isChecking) return
    isChecking = true
    for (const request of lasting) {
      if (!running.has(request) || (await hasAccess(request))) continue
      log.info('Ended a response, because its caller lost access.', {
        operation: 'http.access',
        requestId: request.id,
        metadata: { owner: request.caller?.owner },
      })
      running.get(request)?.raw.destroy()
    }
    lasting = [...running.keys()]
    isChecking = false
  }

  app.addHook('onRequest', async (request, reply) => {
    if (request.caller === undefined) return
    running.set(request, reply)
    reply.raw.once('close', () => running.delete(request))
  })
  app.addHook('onListen', async () => {
    timer = setInterval(() => void check(), everyMs)
  })
  app.addHook('onClose', async () => clearInterval(timer))
}
