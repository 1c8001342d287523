import { Type } from 'typebox'
import type { Clock } from '../../lib/clock.ts'
import { ProviderError } from '../contract/index.ts'
import { restClient, shape, statusFailure } from '../rest/index.ts'
import { readCredentials, type ServiceAccount } from './credentials.ts'
import { serviceToken } from './token.ts'

export interface PubsubSettings {
  /** `GOOGLE_PUBSUB_URL`. */
  url: string
  /** `projects/x/topics/y`, or `y` in the project of the service account. */
  topicName: string
  subscriptionName: string
  /** The JSON key of a service account, or its path. */
  credentials: string
}

/** One message as it was given out; it comes again unless it is acknowledged. */
export interface Received {
  ackId: string
  messageId: string
  data: Buffer
}

/** One subscription to one topic. Every method throws `ProviderError`, or the signal's reason. */
export interface Pubsub {
  readonly topicName: string
  /** Throws `rejected` or `not_found` when the two do not exist, do not belong together, or may not be read. */
  check(signal: AbortSignal): Promise<void>
  /** Waits at the server until there is something, for a minute or two at most; then perhaps nothing. */
  pull(maxMessages: number, signal: AbortSignal): Promise<Received[]>
  acknowledge(ackIds: readonly string[]): Promise<void>
  /** They come again after so many seconds from now, not earlier. */
  extend(ackIds: readonly string[], seconds: number): Promise<void>
  /** Gives up what is under way. Twice safely. */
  close(): Promise<void>
}

/** A pull is held by Google for up to a minute and a half. */
const PULL_MS = 120_000
const MAX_BYTES = 16 * 1024 * 1024

const subscription = shape(Type.Object({ topic: Type.String(), pushConfig: Type.Optional(Type.Object({})) }))
const pulled = shape(
  Type.Object({
    receivedMessages: Type.Optional(
      Type.Array(
        Type.Object({
          ackId: Type.String(),
          message: Type.Object({ messageId: Type.String(), data: Type.Optional(Type.String()) }),
        }),
      ),
    ),
  }),
)

/** Reads the credentials; throws `rejected` when they or the names cannot be right. Nothing is asked of Google yet. */
export async function pubsub(settings: PubsubSettings, clock: Clock): Promise<Pubsub> {
  const account = await readCredentials(settings.credentials)
  const topicName = nameOf('PUBSUB_TOPIC_NAME', settings.topicName, 'topics', account)
  const name = nameOf('PUBSUB_SUBSCRIPTION_NAME', settings.subscriptionName, 'subscriptions', account)
  const client = restClient({
    ...{ root: `${settings.url}/v1`, clock, failure: statusFailure, pace: { concurrency: 4 } },
    limits: { timeoutMs: PULL_MS, connections: 4 },
  })
  const access = { accountId: 'pubsub', email: account.email, settings: {}, secrets: {} }
  const signedIn = { ...access, accessToken: serviceToken(account, clock) }
  const waiting = client.mailbox(signedIn)
  const urgent = client.mailbox(signedIn, { urgent: true })
  const post = (verb: string, body: object, doing: string) =>
    urgent.json({ method: 'POST', path: `/${name}:${verb}`, body, doing }, () => undefined)

  return {
    topicName,
    async check(signal) {
      const found = await urgent.json(
        { method: 'GET', path: `/${name}`, doing: `reading ${name}`, signal },
        subscription,
      )
      if (found.topic !== topicName) {
        throw new ProviderError('rejected', `${name} belongs to another topic than ${topicName}`)
      }
      await urgent.json(
        { method: 'GET', path: `/${topicName}`, doing: `reading ${topicName}`, signal },
        () => undefined,
      )
    },
    async pull(maxMessages, signal) {
      const doing = `pulling ${name}`
      const request = { method: 'POST', path: `/${name}:pull`, body: { maxMessages }, doing } as const
      const { receivedMessages = [] } = await waiting.json({ ...request, maxBytes: MAX_BYTES, signal }, pulled)
      return receivedMessages.map(({ ackId, message: { messageId, data = '' } }) => ({
        ...{ ackId, messageId, data: Buffer.from(data, 'base64') },
      }))
    },
    acknowledge: (ackIds) => post('acknowledge', { ackIds }, 'acknowledging notices'),
    extend: (ackIds, ackDeadlineSeconds) =>
      post('modifyAckDeadline', { ackIds, ackDeadlineSeconds }, 'asking for more time for notices'),
    close: () => client.close(),
  }
}

const FULL = /^projects\/[a-z0-9.:-]+\/(topics|subscriptions)\/([A-Za-z][\w.~+%-]{2,254})$/
const SHORT = /^[A-Za-z][\w.~+%-]{2,254}$/

function nameOf(setting: string, given: string, kind: 'topics' | 'subscriptions', { project }: ServiceAccount): string {
  const name = SHORT.test(given) ? `projects/${project}/${kind}/${given}` : given
  if (FULL.exec(name)?.[1] === kind) return name
  throw new ProviderError('rejected', `${setting} must look like projects/<project>/${kind}/<name>`)
}
