import type { Dialect, Tx } from '../../../infra/db/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Ids } from '../../../lib/ids.ts'
import type { RemoteMessage } from '../../../providers/contract/index.ts'
import { type MessageRow, messageStore } from '../store.ts'
import { matchMessages } from '../storing/match.ts'
import { type IncomingRow, incomingRow } from '../storing/row.ts'
import { messageWriter } from '../storing/writer.ts'

export interface LiveListDeps {
  dialect: Dialect
  clock: Clock
  ids: Ids
}

/**
 * Stores what was listed live of a folder that is not kept in step, so that the ids work everywhere: no events, no
 * labels, no counters. Known rows take the flags just seen; a new numbering finds its rows again. Answers one row per mail.
 */
export async function storeListed(
  tx: Tx,
  { dialect, clock, ids }: LiveListDeps,
  folder: { accountId: string; labelId: string },
  mails: readonly RemoteMessage[],
): Promise<MessageRow[]> {
  const { accountId, labelId } = folder
  const nowMs = clock.now()
  const store = messageStore(tx)
  const writer = messageWriter(tx, { dialect, accountId, nowMs })
  const incoming = mails.map((mail) => incomingRow(mail, { accountId, labelId, nowMs }))
  const rows = new Map<string, MessageRow>()
  const remember = (stored: readonly MessageRow[]) => {
    for (const row of stored) rows.set(placeKey(row), row)
  }

  const known = await knownRows(store, labelId, incoming)
  remember(known)
  const seen = new Map(incoming.map((mail) => [placeKey(mail), mail]))
  remember(await writer.setFlags(known.map((row) => flagsOf(row, seen.get(placeKey(row)) ?? row))))

  const unknown = incoming.filter((mail) => !rows.has(placeKey(mail)))
  const renumbered = (await store.candidates(accountId, unknown)).filter(
    (row) => row.folderId === labelId && row.uidValidity !== unknown[0]?.uidValidity,
  )
  const { matched } = matchMessages(
    unknown,
    renumbered.map((row) => ({ ...row, uid: null })),
    labelId,
    new Map(),
  )
  const found = new Map((await store.byIds([...matched.values()].map((row) => row.id))).map((row) => [row.id, row]))
  const placements = unknown.flatMap((mail, position) => {
    const row = found.get(matched.get(position)?.id ?? '')
    return row === undefined ? [] : [{ row, folderId: labelId, ...locationAndFlags(mail) }]
  })
  remember(await writer.relocate(placements, false))
  // Ids in the order of arrival: they decide among mails of the same second.
  const added = unknown
    .filter((mail) => !rows.has(placeKey(mail)))
    .sort((a, b) => (a.uid ?? 0) - (b.uid ?? 0))
    .map((mail) => newMessageRow(mail, { accountId, labelId, id: ids('msg'), nowMs }))
  const stored = await writer.insert(added, () => [])
  remember(stored)
  // A request beside this one may have stored them first; then its rows stand.
  if (stored.length < added.length) remember(await knownRows(store, labelId, incoming))
  return incoming.flatMap((mail) => rows.get(placeKey(mail)) ?? [])
}

/** A row for a mail that was never seen before. */
export function newMessageRow(
  mail: IncomingRow,
  about: { accountId: string; labelId: string | null; id: string; nowMs: number },
): MessageRow {
  return {
    ...mail,
    id: about.id,
    accountId: about.accountId,
    folderId: about.labelId,
    goneAt: null,
    version: 1,
    createdAt: about.nowMs,
    updatedAt: about.nowMs,
  }
}

/** What the provider says of where a mail stands now. */
export function locationAndFlags(mail: IncomingRow) {
  const { uidValidity, uid, providerMessageId, unread, starred } = mail
  return { uidValidity, uid, providerMessageId, unread, starred }
}

async function knownRows(
  store: ReturnType<typeof messageStore>,
  labelId: string,
  incoming: readonly IncomingRow[],
): Promise<MessageRow[]> {
  const uidValidity = incoming[0]?.uidValidity
  if (uidValidity === undefined || uidValidity === null) return []
  return store.byLocation(
    labelId,
    uidValidity,
    incoming.flatMap((mail) => mail.uid ?? []),
  )
}

function flagsOf(row: MessageRow, mail: { unread: number; starred: number }) {
  return { row, unread: mail.unread, starred: mail.starred }
}

function placeKey(row: { uidValidity: string | null; uid: number | null }): string {
  return `${row.uidValidity} ${row.uid}`
}
