import { createVerify, generateKeyPairSync, randomBytes } from 'node:crypto'
import { lazy } from '../../../src/platform/concurrency/lazy.ts'
import type { Route, Routed } from '../fake/router.ts'
import type { Tokens } from '../fake/tokens.ts'
import { badRequest, notFound, oauthError } from './errors.ts'

const EMAIL = 'posthorn@project.iam.gserviceaccount.test'
const SCOPES = ['https://www.googleapis.com/auth/pubsub', 'https://www.googleapis.com/auth/cloud-platform']

interface QueuedMessage {
  id: string
  data: string
  publishTime: string
  /** Identifies the current lease; null before the first pull. */
  ackId: string | null
  leasedUntil: number
  deliveries: number
}

/** Cloud Pub/Sub with one topic and one pull subscription. */
export interface Pubsub {
  routes: Route[]
  topicName: string
  subscriptionName: string
  /** The value of `APPLICATION_CREDENTIALS`, as JSON. */
  credentials: string
  /** Milliseconds until an unacknowledged message is delivered again; default 10,000. */
  ackDeadlineMs: number
  /** Milliseconds that a pull waits for a message; default 2,000. */
  pullWaitMs: number
  publish(data: object): void
  /** Number of messages not acknowledged yet. */
  readonly waiting: number
  /** Number of deliveries, including redeliveries. */
  readonly deliveries: number
  /** Exchanges the service account's assertion for an access token. */
  exchange(assertion: string): Response
}

/** One pair for all fakes of the process: generating it takes a fifth of a second. */
const serviceAccountKeys = lazy(() => generateKeyPairSync('rsa', { modulusLength: 2048 }))

export function pubsub(url: string, tokens: Tokens): Pubsub {
  const keys = serviceAccountKeys()
  const topicName = 'projects/project/topics/mail'
  const subscriptionName = 'projects/project/subscriptions/mail'
  const messages = new Map<string, QueuedMessage>()
  const waiters = new Set<() => void>()
  let published = 0
  let deliveries = 0

  const service: Pubsub = {
    topicName,
    subscriptionName,
    credentials: JSON.stringify({
      type: 'service_account',
      project_id: 'project',
      private_key_id: 'key-1',
      private_key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: EMAIL,
      client_id: '1',
      token_uri: `${url}/token`,
    }),
    ackDeadlineMs: 10_000,
    pullWaitMs: 2_000,
    publish(data) {
      published += 1
      messages.set(String(published), {
        id: String(published),
        data: Buffer.from(JSON.stringify(data)).toString('base64'),
        publishTime: new Date().toISOString(),
        ackId: null,
        leasedUntil: 0,
        deliveries: 0,
      })
      for (const wake of [...waiters]) wake()
    },
    get waiting() {
      return messages.size
    },
    get deliveries() {
      return deliveries
    },
    exchange,
    routes: [
      {
        method: 'GET',
        pattern: '/v1/projects/{project}/topics/{topic}',
        handle: resourceNamed(topicName, () => ({ name: topicName })),
      },
      {
        method: 'GET',
        pattern: '/v1/projects/{project}/subscriptions/{subscription}',
        handle: resourceNamed(subscriptionName, shown),
      },
      { method: 'POST', pattern: '/v1/projects/{project}/subscriptions/{verb}', handle: act },
    ],
  }
  return service

  function shown() {
    return {
      name: subscriptionName,
      topic: topicName,
      ackDeadlineSeconds: Math.ceil(service.ackDeadlineMs / 1000),
      state: 'ACTIVE',
    }
  }

  function resourceNamed(name: string, resource: () => object) {
    return (request: Routed) => (request.url.pathname === `/v1/${name}` ? Response.json(resource()) : notFound())
  }

  async function act(request: Routed) {
    const [name, verb] = (request.params.verb ?? '').split(':')
    if (`projects/${request.params.project}/subscriptions/${name}` !== subscriptionName) return notFound()
    const body = JSON.parse(request.body.toString() || '{}') as {
      maxMessages?: number
      returnImmediately?: boolean
      ackIds?: string[]
      ackDeadlineSeconds?: number
    }
    if (verb === 'pull') return pull(body.maxMessages ?? 0, body.returnImmediately === true, request.signal)
    const leased = [...messages.values()].filter(({ ackId }) => ackId !== null && body.ackIds?.includes(ackId))
    if (verb === 'acknowledge') for (const message of leased) messages.delete(message.id)
    else if (verb === 'modifyAckDeadline')
      for (const message of leased) lease(message, (body.ackDeadlineSeconds ?? 0) * 1000)
    else return notFound()
    return Response.json({})
  }

  function lease(message: QueuedMessage, ms: number) {
    message.leasedUntil = Date.now() + ms
    if (ms === 0) for (const wake of [...waiters]) wake()
  }

  async function pull(maxMessages: number, returnImmediately: boolean, signal: AbortSignal) {
    if (maxMessages < 1) return badRequest('maxMessages must be positive')
    const until = Date.now() + service.pullWaitMs
    for (;;) {
      if (signal.aborted) return Response.json({})
      const due = [...messages.values()].filter((message) => message.leasedUntil <= Date.now()).slice(0, maxMessages)
      if (due.length > 0) return Response.json({ receivedMessages: due.map(deliver) })
      if (returnImmediately || Date.now() >= until) return Response.json({})
      const nextCheck = Math.min(until, ...[...messages.values()].map((message) => message.leasedUntil))
      await publishedOr(Math.max(1, nextCheck - Date.now()), signal)
    }
  }

  function deliver(message: QueuedMessage) {
    message.ackId = randomBytes(12).toString('base64url')
    message.deliveries += 1
    deliveries += 1
    lease(message, service.ackDeadlineMs)
    const { id: messageId, data, publishTime, ackId } = message
    return { ackId, message: { data, messageId, publishTime } }
  }

  function publishedOr(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        waiters.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      waiters.add(done)
      signal.addEventListener('abort', done)
    })
  }

  function exchange(assertion: string): Response {
    const [head = '', payload = '', signature = ''] = assertion.split('.')
    const isValid = createVerify('RSA-SHA256')
      .update(`${head}.${payload}`)
      .verify(keys.publicKey, signature, 'base64url')
    if (!isValid) return oauthError('invalid_grant', 'Invalid JWT Signature.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
    const now = Date.now() / 1000
    const { iss, aud, exp, iat, scope } = claims
    if (iss !== EMAIL || aud !== `${url}/token`) return oauthError('invalid_grant', 'Invalid issuer or audience.')
    if (typeof exp !== 'number' || typeof iat !== 'number' || exp < now || iat > now + 60 || exp - iat > 3600)
      return oauthError('invalid_grant', 'Invalid JWT: it must be short-lived and in a reasonable timeframe.')
    const scopes = String(scope ?? '').split(' ')
    if (!scopes.some((name) => SCOPES.includes(name)))
      return oauthError('invalid_scope', 'No Pub/Sub scope was requested.')
    const accessToken = `service_${randomBytes(20).toString('base64url')}`
    tokens.issue(accessToken, { user: EMAIL, scopes, refreshToken: null })
    return Response.json({ access_token: accessToken, token_type: 'Bearer', expires_in: tokens.lifetime })
  }
}
