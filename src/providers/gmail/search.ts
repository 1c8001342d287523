import type { Clock } from '../../platform/time/clock.ts'
import type { FoundPage, MailboxSearch, MailSearch } from '../contract/index.ts'
import { listPage } from './client.ts'
import type { GmailMailbox } from './quota.ts'
import { Fetcher } from './sync/fetch.ts'

/** Searches with the `q` of `messages.list`, then fetches what it found. */
export async function searchMailbox(
  mailbox: GmailMailbox,
  clock: Clock,
  { search, folder, limit, page, signal }: MailboxSearch,
): Promise<FoundPage> {
  const scope = folder === undefined ? { includeSpamTrash: 'false' as const } : { labelIds: folder }
  const listed = await listPage(
    mailbox,
    { q: buildQuery(search), maxResults: limit, pageToken: page, ...scope },
    signal,
  )
  // Messages that cannot be read are left out.
  const { found } = await new Fetcher(mailbox, clock).allMessages(listed.ids, { isNew: false }, signal)
  return { found: found.map(({ message, folders }) => ({ message, folders })), next: listed.next ?? null }
}

/**
 * In Gmail's search language, where every word is quoted, so that none is an operator. Gmail finds complete words only. Its times are
 * whole seconds, and its `has:attachment` includes inline images.
 */
export function buildQuery({ text = [], from = [], to = [], subject = [], ...limits }: MailSearch): string {
  const { after, before, unread, hasAttachments } = limits
  const parts = [
    ...text.map((word) => `{${quoted(word)} filename:${quoted(word)}}`),
    ...from.map((word) => `from:${quoted(word)}`),
    ...to.map((word) => `{to:${quoted(word)} cc:${quoted(word)} bcc:${quoted(word)}}`),
    ...subject.map((word) => `subject:${quoted(word)}`),
  ]
  if (after !== undefined) parts.push(`after:${Math.max(0, Math.floor(after / 1000) - 1)}`)
  if (before !== undefined) parts.push(`before:${Math.ceil(before / 1000) + 1}`)
  if (unread !== undefined) parts.push(unread ? 'is:unread' : 'is:read')
  if (hasAttachments) parts.push('has:attachment')
  return parts.join(' ')
}

function quoted(word: string): string {
  return `"${word.replaceAll('"', '')}"`
}
