import type { Route, Routed } from '../fake/router.ts'
import { badRequest, googleError } from './errors.ts'
import type { Gmail } from './gmail.ts'
import type { Pubsub } from './pubsub.ts'

const WEEK_MS = 7 * 24 * 3600 * 1000

/** `users.watch`: publishes every change of a mailbox to the topic for a week. */
export interface Watch {
  routes: Route[]
  /** Publishes a change if the mailbox is watched. */
  changed(user: string): void
  /** Expires the watch of one user, or of all users. */
  expire(user?: string): void
  /** Users with an active watch. */
  watched(): string[]
}

export function watch(mail: () => Pick<Gmail, 'historyId'>, topic: Pubsub): Watch {
  const expiries = new Map<string, number>()
  const isWatched = (user: string) => (expiries.get(user) ?? 0) > Date.now()

  return {
    changed(user) {
      if (isWatched(user)) topic.publish({ emailAddress: user, historyId: mail().historyId(user) })
    },
    expire(user) {
      if (user === undefined) expiries.clear()
      else expiries.delete(user)
    },
    watched: () => [...expiries.keys()].filter(isWatched),
    routes: [
      { method: 'POST', pattern: '/gmail/v1/users/{userId}/watch', handle: begin },
      { method: 'POST', pattern: '/gmail/v1/users/{userId}/stop', handle: stop },
    ],
  }

  function begin(request: Routed) {
    const user = request.user ?? ''
    const { topicName } = JSON.parse(request.body.toString() || '{}') as { topicName?: string }
    if (!topicName || !/^projects\/[^/]+\/topics\/[^/]+$/.test(topicName)) return badRequest('Invalid topicName')
    if (topicName !== topic.topicName)
      return googleError(
        404,
        'notFound',
        'NOT_FOUND',
        `Error sending test message to Cloud PubSub ${topicName} : Resource not found.`,
      )
    expiries.set(user, Date.now() + WEEK_MS)
    const historyId = mail().historyId(user)
    topic.publish({ emailAddress: user, historyId })
    return Response.json({ historyId, expiration: String(Date.now() + WEEK_MS) })
  }

  function stop(request: Routed) {
    expiries.delete(request.user ?? '')
    return new Response(null, { status: 204 })
  }
}
