import { sha256 } from '../../../platform/crypto/sha256.ts'
import { type Handle, insertRows, type Tx } from '../../../platform/db/index.ts'
import type { FolderRole, RemoteMessage } from '../../../providers/contract/index.ts'

/**
 * The ids of messages that this service puts into a mailbox: the copies of sent messages, and drafts. Their creator reserves the id
 * before the provider can show the message; the sync that inserts the message takes it. An id is taken once.
 */
interface Reservation {
  accountId: string
  /** The id that the message gets: `msg_…`. */
  messageId: string
  /** `draft`: taken by a message in Drafts. `sent`: taken by one in Sent; until then, one in Drafts is a step of sending, and is not stored. */
  as: 'draft' | 'sent'
}

/** How a provider's message shows which one it is: one of these is enough. */
type ReservationKey =
  | { rfcMessageId: string }
  | { providerMessageId: string }
  /** The value of `X-Posthorn-Id`. */
  | { sentToken: string }

export const reservedIds = {
  /** Reserves the id under these keys, or adds keys to a reservation. A key that the account has already keeps its reservation. */
  async reserve(
    tx: Tx,
    { accountId, messageId, as }: Reservation,
    keys: readonly ReservationKey[],
    nowMs: number,
  ): Promise<void> {
    const rows = keys.map((key) => ({ accountId, key: hashKey(key), messageId, as, createdAt: nowMs }))
    await insertRows(tx, 'reservedMessages', rows, 'on conflict ("accountId", "key") do nothing')
  },

  /** For a message that will never appear: it was not sent, or the draft was not saved. */
  async release(tx: Tx, messageId: string): Promise<void> {
    await tx.deleteFrom('reservedMessages').where('messageId', '=', messageId).execute()
  },
}

/** A message that sync is about to insert. */
interface ArrivingMessage {
  message: RemoteMessage
  /** The roles of its folder, or of its labels. */
  roles: readonly (FolderRole | null)[]
}

/** `take`: insert the message under this id. `hide`: do not store it yet. */
type ReservedAs = { take: string; as: Reservation['as'] } | 'hide'

/**
 * Returns what to do with the messages that have a reservation, by index. Ends the reservations of those to take, so call it in the
 * transaction that inserts them.
 */
export async function takeReserved(
  tx: Tx,
  accountId: string,
  arriving: readonly ArrivingMessage[],
): Promise<Map<number, ReservedAs>> {
  const result = new Map<number, ReservedAs>()
  const candidates = arriving
    .map((message, index) => ({ ...message, index }))
    .filter(({ roles }) => roles.includes('sent') || roles.includes('drafts'))
    .map(({ message, roles, index }) => ({ index, roles, keys: buildKeys(message).map(hashKey) }))
  if (candidates.length === 0 || !(await hasReservations(tx, accountId))) return result
  const reserved = await find(
    tx,
    accountId,
    candidates.flatMap(({ keys }) => keys),
  )
  for (const { index, roles, keys } of candidates) {
    const reservation = keys.map((key) => reserved.get(key)).find((row) => row !== undefined)
    if (reservation === undefined) continue
    if (roles.includes(reservation.as === 'sent' ? 'sent' : 'drafts')) {
      result.set(index, { take: reservation.messageId, as: reservation.as })
      // A second message with the same key is another message.
      for (const [key, row] of reserved) if (row.messageId === reservation.messageId) reserved.delete(key)
      await reservedIds.release(tx, reservation.messageId)
    } else if (reservation.as === 'sent') result.set(index, 'hide')
  }
  return result
}

/** Deletes up to `limit` reservations that no message took and returns how many. */
export async function purgeReserved(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = tx.selectFrom('reservedMessages').select('messageId').where('createdAt', '<', beforeMs).limit(limit)
  const { numDeletedRows } = await tx
    .deleteFrom('reservedMessages')
    .where('messageId', 'in', old)
    .where('createdAt', '<', beforeMs)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Deletes up to `limit` reservations of a deleted account and returns how many. */
export async function eraseReserved(tx: Tx, accountId: string, limit: number): Promise<number> {
  const some = tx.selectFrom('reservedMessages').select('key').where('accountId', '=', accountId).limit(limit)
  const { numDeletedRows } = await tx
    .deleteFrom('reservedMessages')
    .where('accountId', '=', accountId)
    .where('key', 'in', some)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

const KEYS_PER_QUERY = 500

async function find(tx: Tx, accountId: string, keys: readonly string[]) {
  const found = new Map<string, { messageId: string; as: Reservation['as'] }>()
  for (let start = 0; start < keys.length; start += KEYS_PER_QUERY) {
    const rows = await tx
      .selectFrom('reservedMessages')
      .select(['key', 'messageId', 'as'])
      .where('accountId', '=', accountId)
      .where('key', 'in', keys.slice(start, start + KEYS_PER_QUERY))
      .execute()
    for (const { key, ...row } of rows) found.set(key, row)
  }
  return found
}

async function hasReservations(handle: Handle, accountId: string): Promise<boolean> {
  const any = handle.selectFrom('reservedMessages').select('key').where('accountId', '=', accountId).limit(1)
  return (await any.executeTakeFirst()) !== undefined
}

function buildKeys({ messageId, providerMessageId, sentToken }: RemoteMessage): ReservationKey[] {
  return [
    ...(providerMessageId === null ? [] : [{ providerMessageId }]),
    ...(sentToken === undefined || sentToken === null ? [] : [{ sentToken }]),
    ...(messageId === null ? [] : [{ rfcMessageId: messageId }]),
  ]
}

/** Header values have no bounded length, and index entries must. */
function hashKey(key: ReservationKey): string {
  return sha256(JSON.stringify(key), 'hex').slice(0, 40)
}
