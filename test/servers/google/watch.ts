import type { Route, Routed } from '../fake/router.ts'
import { badRequest, googleError } from './errors.ts'
import type { Gmail } from './gmail.ts'
import type { Pubsub } from './pubsub.ts'

const WEEK_MS = 7 * 24 * 3600 * 1000

/** `users.watch`, which tells the topic of every change for a week. */
export interface Watch {
  routes: Route[]
  /** Tells of a change in a mailbox that is watched. */
  changed(user: string): void
  /** The watches of all, or of one, have run out. */
  expire(user?: string): void
  /** Users watched now. */
  watched(): string[]
}

export function watch(mail: () => Pick<Gmail, 'historyId'>, topic: Pubsub): Watch {
  const until = new Map<string, number>()
  const on = (user: string) => (until.get(user) ?? 0) > Date.now()

  return {
    changed(user) {
      if (on(user)) topic.publish({ emailAddress: user, historyId: mail().historyId(user) })
    },
    expire(user) {
      if (user === undefined) until.clear()
      else until.delete(user)
    },
    watched: () => [...until.keys()].filter(on),
    routes: [
      { method: 'POST', pattern: '/gmail/v1/users/{userId}/watch', answer: begin },
      { method: 'POST', pattern: '/gmail/v1/users/{userId}/stop', answer: stop },
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
    until.set(user, Date.now() + WEEK_MS)
    const historyId = mail().historyId(user)
    topic.publish({ emailAddress: user, historyId })
    return Response.json({ historyId, expiration: String(Date.now() + WEEK_MS) })
  }

  function stop(request: Routed) {
    until.delete(request.user ?? '')
    return new Response(null, { status: 204 })
  }
}
