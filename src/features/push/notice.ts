import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { PubsubMessage } from '../../providers/pubsub/index.ts'

/** What Gmail publishes: in this mailbox something changed, and its history now stands here. */
export interface GmailNotice {
  /** In lower case. */
  address: string
  historyId: bigint
}

const MAX_BYTES = 4096

/** Gmail's own documentation shows the number as text and as a number. */
const notice = Compile(
  Type.Object({
    emailAddress: Type.String({ minLength: 3, maxLength: 320 }),
    historyId: Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]{1,32}$' })]),
  }),
)

/** Undefined when it is none: anybody who may publish to the topic may send anything. */
export function noticeOf({ data }: PubsubMessage): GmailNotice | undefined {
  if (data.length > MAX_BYTES) return undefined
  try {
    const read: unknown = JSON.parse(data.toString('utf8'))
    if (!notice.Check(read)) return undefined
    return { address: read.emailAddress.toLowerCase(), historyId: BigInt(read.historyId) }
  } catch {
    return undefined
  }
}
