import { hash, randomBytes } from 'node:crypto'
import type { Accounts } from '../../accounts/index.ts'
import type { EventOf, Recorder } from '../../events/index.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { TrackingResult } from '../outgoing/index.ts'
import type { trackingEvents } from './events.ts'
import { hashRfcId } from './replies.ts'
import { counted, isFull, type TrackingEventRow, type TrackingRow, trackingStore } from './store.ts'
import { trackedHtml } from './tracked-html.ts'
import type { Visitor } from './visitor.ts'

interface TrackingDeps {
  db: Db
  clock: Clock
  ids: Ids
  events: Recorder
  accounts: Pick<Accounts, 'get'>
  /** The address of the pixel and the links, without a trailing slash. */
  baseUrl: string
}

/** A message that is about to be sent or saved. */
interface TrackedMessage {
  accountId: string
  /** Reserved for the message: `msg_…`. */
  messageId: string
  /** With angle brackets. */
  rfcMessageId: string
  subject: string
  html: string | null
  /** Insert the pixel and the links. Otherwise the application may insert the pixel itself. */
  insert: boolean
}

/** A message with its pixel and links; `store` makes them work. */
export interface PreparedTracking {
  result: TrackingResult
  html: string | null
  /** The HTML has the pixel, so that the message is sent with the headers, too. */
  isInserted: boolean
  row: TrackingRow
  links: readonly string[]
}

const TOKEN_HEADER = 'X-Service-Tracking-Token'
/** Opens of a message within this time count once. */
const OPEN_WINDOW_MS = 60_000
const TOKEN_BYTES = 18

export type Tracking = ReturnType<typeof tracking>

/** Follows what becomes of sent messages. A token is the only proof of who asks, and shows nothing but a pixel or a stored target. */
export function tracking({ db, clock, ids, events, accounts, baseUrl }: TrackingDeps) {
  const { host } = new URL(baseUrl)

  /** Writes one event and counts it, unless the message has too many of this type. */
  async function record(tx: Tx, tracked: TrackingRow, event: NewTrackingEvent): Promise<TrackingRow | undefined> {
    if (isFull(tracked, event.type)) return undefined
    const occurredAt = clock.now()
    const row = counted(tracked, event.type, occurredAt)
    const { id: trackingId, accountId } = tracked
    await trackingStore(tx).insertEvent(tx, { id: ids('tev'), trackingId, accountId, occurredAt, ...event })
    await trackingStore(tx).saveCounts(tx, row)
    return row
  }

  async function recordEvent(tx: Tx, row: TrackingRow, event: Omit<VisitEvent, keyof EventHead>): Promise<void> {
    const { provider } = await accounts.get(row.accountId)
    const head = { accountId: row.accountId, provider, objectId: row.messageId, version: row.version }
    await events.record(tx, [{ ...head, ...event } as VisitEvent])
  }

  function visitData({ id, messageId, subject }: TrackingRow, visitor: Visitor) {
    const { automatedReason, userAgent, ipAddress } = visitor
    return {
      trackingId: id,
      messageId,
      subject,
      occurredAt: isoTime(clock.now()),
      automated: automatedReason !== null,
      automatedReason,
      userAgent,
      ipAddress,
    }
  }

  return {
    /** Makes the token, the pixel and the links of a message. Stores nothing. */
    async prepare(message: TrackedMessage): Promise<PreparedTracking> {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const pixelUrl = `${baseUrl}/t/${token}.gif`
      const snippet = `<img src="${pixelUrl}" width="1" height="1" alt="" style="display:none">`
      const isInserted = message.insert && message.html !== null
      const { html, links } = isInserted
        ? await trackedHtml(message.html ?? '', {
            pixel: snippet,
            linkUrl: (number) => `${baseUrl}/t/${token}/${number}`,
          })
        : { html: message.html, links: [] }
      const id = ids('trk')
      const { accountId, messageId, rfcMessageId, subject } = message
      return {
        result: { id, token, pixelUrl, snippet, headers: { [TOKEN_HEADER]: token }, domain: host },
        html,
        isInserted,
        links,
        row: {
          id,
          accountId,
          messageId,
          subject,
          tokenHash: tokenHash(token),
          rfcIdHash: hashRfcId(rfcMessageId),
          openCount: 0,
          clickCount: 0,
          replyCount: 0,
          version: 0,
          createdAt: clock.now(),
          lastOpenedAt: null,
          lastClickedAt: null,
          lastRepliedAt: null,
        },
      }
    },

    /** In the transaction that accepts the message. */
    store: (tx: Tx, { row, links }: PreparedTracking): Promise<void> => trackingStore(tx).insert(tx, row, links),

    /** Counts an open. Ignores unknown tokens. */
    async opened(token: string, visitor: Visitor): Promise<void> {
      const found = await trackingStore(db.read).findByToken(tokenHash(token))
      if (found === undefined) return
      await db.transaction(async (tx) => {
        const tracked = await trackingStore(tx).lock(found.id, db.dialect)
        if (tracked === undefined) return
        const isCounted = clock.now() - (tracked.lastOpenedAt ?? Number.NEGATIVE_INFINITY) < OPEN_WINDOW_MS
        const row = isCounted
          ? await correctOpen(tx, tracked, visitor)
          : await record(tx, tracked, visit('opened', visitor))
        if (row === undefined) return
        const data = { ...visitData(row, visitor), openCount: row.openCount }
        await recordEvent(tx, row, { type: 'message.opened', data })
      })
    },

    /** Returns the target of a link and, for a visitor, counts the click. Undefined for an unknown token or number. */
    async followLink(token: string, number: number, visitor: Visitor | undefined): Promise<string | undefined> {
      const found = await trackingStore(db.read).findByToken(tokenHash(token))
      const url = found && (await trackingStore(db.read).findLink(found.id, number))
      if (found === undefined || url === undefined || visitor === undefined) return url
      await db.transaction(async (tx) => {
        const tracked = await trackingStore(tx).lock(found.id, db.dialect)
        const row = tracked && (await record(tx, tracked, { ...visit('link_clicked', visitor), url }))
        if (row === undefined) return
        const data = { ...visitData(row, visitor), url, clickCount: row.clickCount }
        await recordEvent(tx, row, { type: 'message.link_clicked', data })
      })
      return url
    },

    /** The sent message with this Message-ID, which may be the one that the provider gave it. */
    async findSent(tx: Tx, accountId: string, rfcMessageId: string) {
      const row = await trackingStore(tx).findByRfcId(accountId, hashRfcId(rfcMessageId))
      return row && { messageId: row.messageId, subject: row.subject }
    },

    /** The tracking of a message, by its own id or the message's. Throws not_found. */
    async get(id: string): Promise<{ row: TrackingRow; events: TrackingEventRow[] }> {
      const store = trackingStore(db.read)
      const row = await (id.startsWith('msg_') ? store.findByMessage(id) : store.find(id))
      if (row === undefined) throw new AppError('not_found', { message: `There is no tracking with the id "${id}".` })
      return { row, events: await store.events(row.id) }
    },
  }

  /** A person who opens a message shortly after a scanner loaded it: still one open, but no longer an automated one. */
  async function correctOpen(tx: Tx, tracked: TrackingRow, visitor: Visitor): Promise<TrackingRow | undefined> {
    const last = visitor.automatedReason === null ? await trackingStore(tx).lastOpen(tracked.id) : undefined
    if (last === undefined || last.automatedReason === null) return undefined
    await tx.updateTable('trackingEvents').set(visitor).where('id', '=', last.id).execute()
    const row = { ...tracked, version: tracked.version + 1 }
    await trackingStore(tx).saveCounts(tx, row)
    return row
  }
}

type NewTrackingEvent = Omit<TrackingEventRow, 'id' | 'trackingId' | 'accountId' | 'occurredAt'>
type VisitEvent = EventOf<typeof trackingEvents, 'message.opened' | 'message.link_clicked'>
type EventHead = Pick<VisitEvent, 'accountId' | 'provider' | 'objectId' | 'version'>

function visit(type: TrackingEventRow['type'], visitor: Visitor): NewTrackingEvent {
  return { type, url: null, replyMessageId: null, ...visitor }
}

const tokenHash = (token: string) => hash('sha256', token, 'base64url')
