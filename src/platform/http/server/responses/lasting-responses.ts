import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { TURN_MS, yieldIfHeld } from '../../../concurrency/event-loop.ts'
import { DatabaseUnavailable } from '../../../db/index.ts'
import type { Log } from '../../../log/index.ts'
import type { Authenticator } from '../requests/access.ts'

interface LastingResponsesDeps {
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
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) {
        log.error('Cannot check whether the caller of a response still has access, because of an internal error.', {
          operation: 'http.access',
          requestId: request.id,
          error,
        })
      }
      // The next check decides.
      return true
    }
  }

  async function check(): Promise<void> {
    if (isChecking) return
    isChecking = true
    /** The results of this check by credentials: the streams of one key need one. */
    const results = new Map<string, boolean>()
    for (const request of lasting) {
      await yieldIfHeld(TURN_MS)
      if (!running.has(request)) continue
      const credentials = readCredentials(request)
      const isAllowed = results.get(credentials) ?? (await hasAccess(request))
      results.set(credentials, isAllowed)
      if (isAllowed) continue
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

/** Equal for requests that every authenticator treats alike. */
function readCredentials({ method, headers, routeOptions }: FastifyRequest): string {
  const { authorization, cookie } = headers
  return JSON.stringify([
    method === 'GET',
    routeOptions.config.access,
    authorization,
    headers['x-api-key'],
    cookie,
    headers['x-csrf-token'],
  ])
}
