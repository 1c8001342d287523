import type { Clock } from '../../platform/time/clock.ts'
import type { MailboxBackfill } from '../contract/index.ts'
import { PageLinks } from '../shared/rest/index.ts'
import { listPage } from './client.ts'
import type { GmailMailbox } from './quota.ts'
import { Fetcher } from './sync/fetch.ts'

/** Pages of 500 ids to count. Larger mailboxes are not counted. */
const MAX_COUNTED_PAGES = 400

/**
 * Lists ids by time, newest first, and fetches those that are not stored. A position is a time, because page tokens expire. Gmail's
 * times are whole seconds, so each list begins with messages that were already read.
 */
export function gmailBackfill(mailbox: GmailMailbox, clock: Clock): MailboxBackfill {
  const fetcher = new Fetcher(mailbox, clock)
  const query = (sinceMs: number, beforeMs: number) =>
    `after:${Math.max(0, Math.floor(sinceMs / 1000) - 1)} before:${Math.floor(beforeMs / 1000) + 1}`

  return {
    async count({ sinceMs, beforeMs, signal }) {
      const q = query(sinceMs, beforeMs)
      const links = new PageLinks('counting messages')
      let total = 0
      let pageToken: string | undefined
      for (let pages = 0; pages < MAX_COUNTED_PAGES; pages += 1) {
        const { ids, next } = await listPage(mailbox, { q, pageToken }, signal)
        total += ids.length
        if (next === undefined) return total
        pageToken = links.follow(next, ids.length)
      }
      return null
    },

    async read({ sinceMs, beforeMs, limit, findStored, control, signal }) {
      const q = query(sinceMs, beforeMs)
      const links = new PageLinks('reading older messages')
      for (let pageToken: string | undefined; ; ) {
        const { ids, next } = await listPage(mailbox, { q, pageToken }, signal)
        const stored = await findStored(ids)
        // One batch, so that little is lost when it fails.
        const most = mailbox.batchSize(mailbox.costs.message, limit)
        const unknown = ids.filter((id) => !stored.has(id)).slice(0, most)
        const isEntirePage = ids.every((id) => stored.has(id) || unknown.includes(id))
        const lastAt = isEntirePage ? ids.length : ids.indexOf(unknown.at(-1) ?? '') + 1
        const fetched = await fetcher.allMessages(unknown, { isNew: false, control }, signal)
        const { failed } = fetched
        const found = fetched.found.map(({ message, folders }) => ({ message, folders }))
        const times = new Map(stored)
        for (const { message } of found) times.set(message.providerMessageId, message.receivedAt)
        const passed = ids.slice(0, lastAt).flatMap((id) => times.get(id) ?? [])
        const nextMs = Math.min(beforeMs, ...passed)
        if (isEntirePage && next === undefined)
          return { found, failed, passed: count(stored, ids, lastAt, beforeMs), nextMs: null }
        // Without progress, the page has stored messages of one second only.
        if (found.length > 0 || nextMs < beforeMs) {
          return { found, failed, passed: count(stored, ids, lastAt, beforeMs), nextMs }
        }
        pageToken = next && links.follow(next, ids.length)
      }
    },
  }
}

/** Stored messages among the first ids that no earlier read returned. */
function count(stored: ReadonlyMap<string, number>, ids: readonly string[], lastAt: number, beforeMs: number): number {
  return ids.slice(0, lastAt).filter((id) => (stored.get(id) ?? beforeMs) < beforeMs).length
}
