import { hash } from 'node:crypto'
import type { EventOf, NewEvent, Recorder } from '../../events/index.ts'
import { type Db, type Dialect, type Tx, updateEach } from '../../platform/db/index.ts'
import type { Ids } from '../../platform/ids.ts'
import { parseTime } from '../../platform/time/time.ts'
import { isAutomaticSubject, isMailSystem } from '../../providers/shared/mime/index.ts'
import type { ArrivalEvent } from '../messages/index.ts'
import type { trackingEvents } from './events.ts'
import { counted, isFull, type TrackingRow, trackingStore } from './store.ts'

/** A reply names what it replies to, then older messages of the thread. */
const MAX_REFERENCES = 10

interface ReplyDeps {
  db: Pick<Db, 'dialect'>
  events: Recorder
  ids: Ids
}

/**
 * A recorder for sync that also finds replies: it records `message.replied` beside `message.received`, in the same transaction. The
 * sent copy of a message says under which Message-ID the provider sent it, which replies refer to.
 */
export function replyRecorder({ db: { dialect }, events, ids }: ReplyDeps): Recorder {
  return {
    async record(tx, recorded) {
      await learnIds(tx, recorded.filter(isMessage('message.sent')))
      // Locks the rows before the counter of the account's events, in the order of an open.
      const replies = await findReplies(tx, dialect, recorded.filter(isMessage('message.received')))
      const eventIds = await events.record(tx, recorded)
      await events.record(tx, await recordReplies(tx, replies, ids))
      return eventIds
    },
  }
}

/** Events of sync say more than other ones. */
type MessageEventData = ArrivalEvent['data']
type MessageEvent = NewEvent<string, MessageEventData> & Partial<Pick<ArrivalEvent, 'isAutomatic'>>

function isMessage(type: string): (event: NewEvent) => event is MessageEvent {
  return (event): event is MessageEvent => event.type === type
}

/** Gmail replaces the Message-ID of what it sends. */
async function learnIds(tx: Tx, sent: readonly MessageEvent[]): Promise<void> {
  const tracked = await trackingStore(tx).byMessages(sent.map(({ data }) => data.id))
  const changed = sent.flatMap(({ data: { id, messageId } }) => {
    const row = tracked.get(id)
    const rfcIdHash = messageId === null ? null : hashRfcId(messageId)
    return row === undefined || rfcIdHash === null || row.rfcIdHash === rfcIdHash ? [] : { id: row.id, rfcIdHash }
  })
  await updateEach(
    tx,
    'trackings',
    [
      ['id', 'text'],
      ['rfcIdHash', 'text'],
    ],
    changed,
  )
}

interface Reply {
  event: MessageEvent
  tracked: TrackingRow
}

async function findReplies(tx: Tx, dialect: Dialect, received: readonly MessageEvent[]): Promise<Reply[]> {
  const candidates = received
    .filter(({ data }) => !isBounce(data))
    .map((event) => ({ event, hashes: nearestReferences(event.data).map(hashRfcId) }))
    .filter(({ hashes }) => hashes.length > 0)
  const [first] = candidates
  if (first === undefined) return []
  const all = candidates.flatMap(({ hashes }) => hashes)
  const tracked = await trackingStore(tx).lockByRfcIds(first.event.accountId ?? '', all, dialect)
  return candidates.flatMap(({ event, hashes }) => {
    const found = hashes.flatMap((rfcIdHash) => tracked.get(rfcIdHash) ?? [])[0]
    return found === undefined ? [] : { event, tracked: found }
  })
}

/** The nearest first. */
function nearestReferences({ inReplyTo, references }: MessageEventData): string[] {
  const nearest = references.slice(-MAX_REFERENCES).reverse()
  return inReplyTo === null ? nearest : [inReplyTo, ...nearest]
}

async function recordReplies(
  tx: Tx,
  replies: readonly Reply[],
  ids: Ids,
): Promise<EventOf<typeof trackingEvents, 'message.replied'>[]> {
  const rows = new Map<string, TrackingRow>()
  const events: EventOf<typeof trackingEvents, 'message.replied'>[] = []
  for (const { event, tracked } of replies) {
    const row = rows.get(tracked.id) ?? tracked
    const { id: replyMessageId, threadId, subject, from, receivedAt } = event.data
    const occurredAt = parseTime(receivedAt) ?? 0
    const after = counted(row, 'replied', occurredAt)
    rows.set(row.id, after)
    const automated = event.isAutomatic ?? isAutomaticSubject(subject)
    // Every reply is counted and announced; only the list of the message's events is limited.
    if (!isFull(row, 'replied')) {
      await trackingStore(tx).insertEvent(tx, {
        id: ids('tev'),
        trackingId: row.id,
        accountId: row.accountId,
        type: 'replied',
        occurredAt,
        automatedReason: automated ? 'automatic_reply' : null,
        url: null,
        replyMessageId,
        userAgent: null,
        ipAddress: null,
      })
    }
    events.push({
      type: 'message.replied',
      accountId: event.accountId,
      provider: event.provider,
      objectId: row.messageId,
      version: after.version,
      data: {
        messageId: row.messageId,
        trackingId: row.id,
        replyMessageId,
        threadId,
        subject,
        from,
        repliedAt: receivedAt,
        automated,
      },
    })
  }
  for (const row of rows.values()) await trackingStore(tx).saveCounts(tx, row)
  return events
}

const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status']

function isBounce({ from, attachments }: MessageEventData): boolean {
  if (from !== null && isMailSystem(from.email)) return true
  return attachments.some(({ contentType }) => STATUS_TYPES.includes(contentType))
}

export function hashRfcId(rfcMessageId: string): string {
  return hash('sha256', rfcMessageId, 'base64url')
}
