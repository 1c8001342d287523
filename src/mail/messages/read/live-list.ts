import { readLive } from '../../../accounts/index.ts'
import type { Dialect, Tx } from '../../../platform/db/index.ts'
import { invalid } from '../../../platform/errors/app-error.ts'
import { buildPage, type Pagination, pageRequest } from '../../../platform/formats/pagination.ts'
import type { MailSearch, RemoteMessage } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { storedText } from '../api.ts'
import { matchMessages } from '../ingest/matching/match.ts'
import { locatedMessages } from '../rows/located-messages.ts'
import { type IncomingRow, incomingRow, locationAndFlags, newMessageRow } from '../rows/row.ts'
import { messageWriter } from '../rows/writer.ts'
import { type MessageRow, type MessageStore, messageStore } from '../store.ts'
import { liveFolders } from './live-access.ts'
import type { FolderDeps } from './requested-folder.ts'
import { type MessageListQuery, type StoredText, toStoredText } from './stored-list.ts'

/**
 * Lists a folder that is not synced, from the server, highest UID first. Stores the listed messages, so that their ids
 * work in every request. Throws `validation_failed` for filters, because most servers cannot filter a list.
 */
export async function listLive(
  deps: FolderDeps,
  folder: LabelRow,
  query: MessageListQuery,
  fingerprint: unknown,
): Promise<{ items: StoredText[]; pagination: Pagination }> {
  const { db, accounts } = deps
  const { id: labelId, accountId, providerId: path } = folder
  const request = pageRequest(query, fingerprint, ['integer'])
  const search = parseSearch(query)
  const [beforeUid] = request.after ?? []
  const live = await liveFolders(deps, accountId)
  const { messages, total } = await readLive('The folder', () =>
    live.listMessages(path, {
      limit: request.limit + 1,
      ...(search !== undefined && { search }),
      ...(beforeUid === undefined ? { offset: request.offset } : { beforeUid }),
    }),
  )
  const rows = await db.transaction(async (tx) => {
    await accounts.hold(tx, accountId)
    return storeListed(tx, { ...deps, dialect: db.dialect }, { accountId, labelId }, messages)
  })
  const { items, pagination } = buildPage(rows, request, total, fingerprint, (row) => [row.uid ?? 0])
  const newestFirst = items.toSorted((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1))
  return { items: newestFirst.map((row) => toStoredText(row.folderId, storedText(row, []))), pagination }
}

/** Undefined without filters. */
function parseSearch({ q, from, to, subject, after, before, unread, hasAttachments }: MessageListQuery) {
  const texts = { text: q, from, to, subject }
  const words = Object.entries(texts).flatMap(([key, text]) =>
    text === undefined ? [] : [[key, splitWords(text)] as const],
  )
  if (words.reduce((sum, [, some]) => sum + some.length, 0) > MAX_WORDS) {
    const message = `has more than ${MAX_WORDS} words, which is the limit in a folder that is not synced`
    throw invalid('query.q', message)
  }
  const limits = { after, before, unread, hasAttachments }
  const filters = Object.entries(limits).filter(([, value]) => value !== undefined)
  return words.length + filters.length === 0 ? undefined : (Object.fromEntries([...words, ...filters]) as MailSearch)
}

/** The server reads the whole folder for each word. */
const MAX_WORDS = 8

function splitWords(text: string): string[] {
  return text
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed()
    .split(/\s+/)
    .filter(Boolean)
}

/**
 * Stores messages of a folder that is not synced, without events, labels or counters. Updates the flags of known rows;
 * after a new UIDVALIDITY it finds their rows again. Returns one row per message.
 */
export async function storeListed(
  tx: Tx,
  { dialect, clock, ids }: Pick<FolderDeps, 'clock' | 'ids'> & { dialect: Dialect },
  { accountId, labelId }: { accountId: string; labelId: string },
  messages: readonly RemoteMessage[],
): Promise<MessageRow[]> {
  const nowMs = clock.now()
  const store = messageStore(tx)
  const writer = messageWriter(tx, { dialect, accountId, nowMs })
  const incoming = messages.map((message) => incomingRow(message, { accountId, labelId, nowMs }))
  const rows = new Map<string, MessageRow>()
  const remember = (stored: readonly MessageRow[]) => {
    for (const row of stored) rows.set(locationKey(row), row)
  }
  const unknown = () => incoming.filter((message) => !rows.has(locationKey(message)))

  const listedRows = await rowsAtLocations(tx, labelId, incoming)
  remember(listedRows)
  const listed = new Map(incoming.map((message) => [locationKey(message), message]))
  remember(
    await writer.setFlags(
      listedRows.map((row) => {
        const { unread, starred } = listed.get(locationKey(row)) ?? row
        return { row, unread, starred }
      }),
    ),
  )

  remember(await writer.relocate(await renumbered(store, { accountId, labelId }, unknown()), false))

  // Ids in the order of arrival: they order messages of the same second.
  const added = unknown()
    .sort((a, b) => (a.uid ?? 0) - (b.uid ?? 0))
    .map((message) => newMessageRow(message, { accountId, labelId, id: ids('msg'), nowMs }))
  const stored = await writer.insert(added, () => [])
  remember(stored)
  // The database refuses rows that a concurrent request stored first; use those.
  if (stored.length < added.length) remember(await rowsAtLocations(tx, labelId, incoming))
  return incoming.flatMap((message) => rows.get(locationKey(message)) ?? [])
}

/** Finds the rows that these messages had before the folder's UIDVALIDITY changed. */
async function renumbered(
  store: MessageStore,
  { accountId, labelId }: { accountId: string; labelId: string },
  unknown: readonly IncomingRow[],
) {
  const candidates = (await store.candidates(accountId, unknown))
    .filter((row) => row.folderId === labelId && row.uidValidity !== unknown[0]?.uidValidity)
    .map((row) => ({ ...row, uid: null }))
  const { matched } = matchMessages(unknown, candidates, labelId, new Map())
  const rows = new Map((await store.byIds([...matched.values()].map((row) => row.id))).map((row) => [row.id, row]))
  return unknown.flatMap((message, index) => {
    const row = rows.get(matched.get(index)?.id ?? '')
    return row === undefined ? [] : [{ row, folderId: labelId, ...locationAndFlags(message) }]
  })
}

async function rowsAtLocations(tx: Tx, labelId: string, incoming: readonly IncomingRow[]): Promise<MessageRow[]> {
  const uidValidity = incoming[0]?.uidValidity
  if (uidValidity === undefined || uidValidity === null) return []
  const uids = incoming.flatMap((message) => message.uid ?? [])
  return locatedMessages(tx).byLocation(labelId, uidValidity, uids)
}

function locationKey({ uidValidity, uid }: Pick<IncomingRow, 'uidValidity' | 'uid'>): string {
  return `${uidValidity} ${uid}`
}
