import type { ImapFlow, SearchObject } from 'imapflow'
import { type MailSearch, ProviderError } from '../contract/index.ts'
import { SEARCH_WINDOW, uidSet } from './messages/uids.ts'

export const DAY_MS = 24 * 60 * 60 * 1000

/**
 * UIDs of the selected folder that match, ascending. Sends one SEARCH for each word, because imapflow cannot repeat a key in one
 * command. It sends words as quoted strings or literals.
 */
export async function searchUids(imap: ImapFlow, exists: number, criteria: MailSearch): Promise<number[]> {
  const found: number[] = []
  for (let low = 1; low <= exists; low += SEARCH_WINDOW) {
    const window = { seq: `${low}:${Math.min(exists, low + SEARCH_WINDOW - 1)}` }
    const common = { ...window, ...flagsAndDays(criteria) }
    const [first = {}, ...others] = wordKeys(criteria)
    let uids = await search(imap, { ...common, ...first })
    for (const key of others) {
      if (uids.length === 0) break
      uids = intersection(uids, await search(imap, { ...common, ...key }))
    }
    found.push(...(await withinTimes(imap, window, criteria, uids)))
  }
  return found.sort((a, b) => a - b)
}

export async function search(imap: ImapFlow, query: SearchObject): Promise<number[]> {
  const uids = await imap.search(query, { uid: true })
  if (!uids) throw new ProviderError('rejected', 'searching a folder: the server refused the search')
  return uids
}

/** SEARCH knows days only, in the zone of the server, so these days include the ones around the times. */
function flagsAndDays({ after, before, unread, hasAttachments }: MailSearch): SearchObject {
  // Nearly every message with an attachment that is not inline has this type, and few others.
  const mixed = { header: { 'content-type': 'multipart/mixed' } }
  return {
    ...(after !== undefined && { since: startOfDay(after - DAY_MS) }),
    ...(before !== undefined && { before: startOfDay(before + 2 * DAY_MS) }),
    ...(unread !== undefined && { seen: !unread }),
    ...(hasAttachments !== undefined && (hasAttachments ? mixed : { not: mixed })),
  }
}

/** Leaves out messages of the days around `after` and `before` that are outside. */
async function withinTimes(
  imap: ImapFlow,
  window: SearchObject,
  { after, before }: MailSearch,
  uids: readonly number[],
): Promise<number[]> {
  let within = [...uids]
  for (const atMs of [after, before]) {
    if (atMs === undefined || within.length === 0) continue
    const days = { since: startOfDay(atMs - DAY_MS), before: startOfDay(atMs + 2 * DAY_MS) }
    const near = intersection(within, await search(imap, { ...window, ...days }))
    if (near.length === 0) continue
    const outside = new Set<number>()
    for await (const { uid, internalDate } of imap.fetch(
      uidSet(near),
      { uid: true, internalDate: true },
      { uid: true },
    )) {
      const ms = internalDate === undefined ? Number.NaN : new Date(internalDate).getTime()
      if (ms < (after ?? ms) || ms >= (before ?? Number.POSITIVE_INFINITY)) outside.add(uid)
    }
    within = within.filter((uid) => !outside.has(uid))
  }
  return within
}

export function startOfDay(ms: number): Date {
  return new Date(Math.floor(ms / DAY_MS) * DAY_MS)
}

function intersection(some: readonly number[], others: readonly number[]): number[] {
  const set = new Set(others)
  return some.filter((uid) => set.has(uid))
}

function wordKeys({ text = [], from = [], to = [], subject = [] }: MailSearch): SearchObject[] {
  return [
    ...text.map((word) => ({ text: word })),
    ...from.map((word) => ({ from: word })),
    ...to.map((word) => ({ or: [{ to: word }, { cc: word }, { bcc: word }] })),
    ...subject.map((word) => ({ subject: word })),
  ]
}
