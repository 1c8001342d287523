import type { Comparison, KnownMailboxMessage } from '../contract/index.ts'
import { ProviderError } from '../contract/index.ts'
import type { RestMailbox } from '../rest/index.ts'
import { listPage } from './api.ts'
import { labelState, STARRED, UNREAD } from './labels.ts'

/** Stored mails that are compared at once: enough that listing each label costs little, few enough for memory. */
const STRETCH_MAILS = 10_000

/** A stretch of the mailbox: what is stored of it, newest first, and what stands there. */
export interface Stretch {
  known: KnownMailboxMessage[]
  /** Not stored. */
  unknown: string[]
  /** Stored, and not found in the list: gone, or the list is behind. */
  missing: string[]
  changed: { providerMessageId: string; unread: boolean; starred: boolean; folders: string[] }[]
  isLast: boolean
}

/** The stored mails behind one, in stretches; the first holds all that came later as well. */
export async function* stretches(
  mailbox: RestMailbox,
  labels: readonly string[],
  {
    comparing,
    behind,
    signal,
  }: { comparing: Comparison; behind: KnownMailboxMessage | undefined; signal: AbortSignal },
): AsyncGenerator<Stretch> {
  for (let newer = behind; ; ) {
    signal.throwIfAborted()
    const { known, isLast } = await nextKnown(comparing, newer)
    const oldest = known.at(-1)
    if (oldest === undefined) return
    // Seconds, and a second more on both sides: what is found twice does no harm.
    const from = `after:${Math.floor(oldest.receivedAt / 1000) - 1}`
    const q = newer === undefined ? from : `${from} before:${Math.ceil(newer.receivedAt / 1000) + 2}`
    yield { ...(await compared(mailbox, known, { labels, q, signal })), isLast }
    if (isLast) return
    newer = oldest
  }
}

async function nextKnown(comparing: Comparison, after: KnownMailboxMessage | undefined) {
  const known: KnownMailboxMessage[] = []
  for (let last = after; known.length < STRETCH_MAILS; ) {
    const page = await comparing.known(last)
    known.push(...page)
    last = page.at(-1)
    if (last === undefined) return { known, isLast: true }
  }
  return { known, isLast: false }
}

interface Place {
  labels: readonly string[]
  q: string
  signal: AbortSignal
}

/** Ids are listed label by label, 500 an answer: asking for the labels of each mail would cost a hundred times as much. */
async function compared(mailbox: RestMailbox, known: KnownMailboxMessage[], { labels, q, signal }: Place) {
  const present = new Map<string, string[]>()
  for await (const id of listed(mailbox, { q }, signal)) present.set(id, [])
  if (present.size > 0) {
    for (const label of new Set([UNREAD, STARRED, ...labels])) {
      for await (const id of listed(mailbox, { q, labelIds: label }, signal)) present.get(id)?.push(label)
    }
  }
  const stored = new Set(known.map(({ providerMessageId }) => providerMessageId))
  return {
    known,
    unknown: [...present.keys()].filter((id) => !stored.has(id)),
    missing: [...stored].filter((id) => !present.has(id)),
    changed: known.flatMap((mail) => difference(mail, present.get(mail.providerMessageId))),
  }
}

async function* listed(
  mailbox: RestMailbox,
  query: { q: string; labelIds?: string },
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (let pageToken: string | undefined; ; ) {
    const page = await listPage(mailbox, { ...query, pageToken }, signal).catch((error: unknown) => {
      // A label may be deleted between the list of labels and here; then nothing carries it.
      const isGone = error instanceof ProviderError && (error.kind === 'not_found' || error.kind === 'rejected')
      if (query.labelIds === undefined || !isGone || (error instanceof ProviderError && error.missingScope)) throw error
      return { ids: [], next: undefined }
    })
    yield* page.ids
    if (page.next === undefined) return
    pageToken = page.next
  }
}

/** What must be said of a stored mail that now carries these labels. */
export function difference(mail: KnownMailboxMessage, labelIds: readonly string[] | undefined): Stretch['changed'] {
  if (labelIds === undefined) return []
  const { unread, starred, folders } = labelState(labelIds)
  const isSame =
    mail.unread === unread &&
    mail.starred === starred &&
    mail.folders.length === folders.length &&
    folders.every((folder) => mail.folders.includes(folder))
  return isSame ? [] : [{ providerMessageId: mail.providerMessageId, unread, starred, folders }]
}
