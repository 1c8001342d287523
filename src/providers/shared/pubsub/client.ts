import * as Type from 'typebox'
import type { Clock } from '../../../platform/time/clock.ts'
import { ProviderError } from '../../contract/index.ts'
import { parser, restClient, statusError } from '../rest/index.ts'
import { readCredentials, type ServiceAccount, serviceToken } from './service-account.ts'

export interface PubsubSettings {
  /** `GOOGLE_PUBSUB_URL`. */
  url: string
  /** `projects/x/topics/y`, or `y` in the project of the service account. */
  topicName: string
  subscriptionName: string
  /** The JSON key of a service account, or the path of its file. */
  credentials: string
}

/** A delivered message. Pub/Sub delivers it again unless it is acknowledged. */
export interface PubsubMessage {
  ackId: string
  messageId: string
  data: Buffer
}

/** One subscription to one topic. Delivery is at least once. Every method rejects with `ProviderError`, or the signal's reason. */
export interface Pubsub {
  readonly topicName: string
  /** Throws `rejected` or `not_found` when topic or subscription is missing, unreadable, or they do not belong together. */
  check(signal: AbortSignal): Promise<void>
  /** Long-polls for up to two minutes, then may return no messages. */
  pull(maxMessages: number, signal: AbortSignal): Promise<PubsubMessage[]>
  acknowledge(ackIds: readonly string[]): Promise<void>
  /** Extends the acknowledgement deadline to `seconds` from now. */
  extend(ackIds: readonly string[], seconds: number): Promise<void>
  /** Aborts the requests in progress. Twice safely. */
  close(): Promise<void>
}

/** Google holds a pull for up to 90 s. */
const PULL_MS = 120_000
const MAX_BYTES = 16 * 1024 * 1024

const subscription = parser(Type.Object({ topic: Type.String(), pushConfig: Type.Optional(Type.Object({})) }))
const pulled = parser(
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

/** Reads the credentials; throws `rejected` when they or the names are invalid. Sends no request. */
export async function pubsub(settings: PubsubSettings, clock: Clock): Promise<Pubsub> {
  const account = await readCredentials(settings.credentials)
  const topicName = buildResourceName('PUBSUB_TOPIC_NAME', settings.topicName, 'topics', account)
  const name = buildResourceName('PUBSUB_SUBSCRIPTION_NAME', settings.subscriptionName, 'subscriptions', account)
  const client = restClient({
    root: `${settings.url}/v1`,
    clock,
    toError: statusError,
    rateLimit: { concurrency: 4 },
    limits: { timeoutMs: PULL_MS, connections: 4 },
  })
  const access = { accountId: 'pubsub', email: account.email, settings: {}, secrets: {} }
  const signedIn = { ...access, accessToken: serviceToken(account, clock) }
  const pulls = client.mailbox(signedIn)
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
        throw new ProviderError('rejected', `${name} does not belong to ${topicName}`)
      }
      await urgent.json(
        { method: 'GET', path: `/${topicName}`, doing: `reading ${topicName}`, signal },
        () => undefined,
      )
    },
    async pull(maxMessages, signal) {
      const doing = `pulling ${name}`
      const request = { method: 'POST', path: `/${name}:pull`, body: { maxMessages }, doing } as const
      const { receivedMessages = [] } = await pulls.json({ ...request, maxBytes: MAX_BYTES, signal }, pulled)
      return receivedMessages.map(({ ackId, message: { messageId, data = '' } }) => ({
        ackId,
        messageId,
        data: Buffer.from(data, 'base64'),
      }))
    },
    acknowledge: (ackIds) => post('acknowledge', { ackIds }, 'acknowledging notifications'),
    extend: (ackIds, ackDeadlineSeconds) =>
      post('modifyAckDeadline', { ackIds, ackDeadlineSeconds }, 'extending the deadline of notifications'),
    close: () => client.close(),
  }
}

const FULL = /^projects\/[a-z0-9.:-]+\/(topics|subscriptions)\/([A-Za-z][\w.~+%-]{2,254})$/
const SHORT = /^[A-Za-z][\w.~+%-]{2,254}$/

function buildResourceName(
  setting: string,
  text: string,
  kind: 'topics' | 'subscriptions',
  { project }: ServiceAccount,
): string {
  const name = SHORT.test(text) ? `projects/${project}/${kind}/${text}` : text
  if (FULL.exec(name)?.[1] === kind) return name
  throw new ProviderError('rejected', `${setting} must look like projects/<project>/${kind}/<name>`)
}
