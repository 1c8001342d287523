import { type Comparison, type KnownMailboxMessage, type MailboxStep, ProviderError } from '../../contract/index.ts'
import { PageLinks } from '../../shared/rest/index.ts'
import { listPage } from '../client.ts'
import { labelState, STARRED, UNREAD } from '../folders.ts'
import type { GmailMailbox } from '../quota.ts'

/** Stored messages per window: enough that listing every label costs little, few enough for memory. */
const WINDOW_MESSAGES = 10_000

/** The differences between the stored messages of a span of time and the mailbox. */
export interface Window {
  stored: KnownMailboxMessage[]
  /** Ids in the mailbox that are not stored. */
  unknown: string[]
  /** Stored, but not listed: deleted, or not in Gmail's search index. */
  missing: string[]
  changed: MailboxStep['changed']
}

/** Compares the stored messages after `after`, newest first, in windows. The first window also covers everything newer. */
export async function* compareWindows(
  mailbox: GmailMailbox,
  labels: readonly string[],
  {
    comparison,
    after,
    signal,
  }: { comparison: Comparison; after: KnownMailboxMessage | undefined; signal: AbortSignal },
): AsyncGenerator<Window> {
  for (let newer = after; ; ) {
    signal.throwIfAborted()
    const { stored, isLast } = await nextKnown(comparison, newer)
    const oldest = stored.at(-1)
    if (oldest === undefined) return
    // The query takes whole seconds. Windows overlap by a second: finding a message twice does no harm.
    const from = `after:${Math.floor(oldest.receivedAt / 1000) - 1}`
    const q = newer === undefined ? from : `${from} before:${Math.ceil(newer.receivedAt / 1000) + 2}`
    yield await compareWindow(mailbox, stored, { labels, q, signal })
    if (isLast) return
    newer = oldest
  }
}

async function nextKnown(comparison: Comparison, after: KnownMailboxMessage | undefined) {
  const stored: KnownMailboxMessage[] = []
  for (let last = after; stored.length < WINDOW_MESSAGES; ) {
    const page = await comparison.listStored(last)
    stored.push(...page)
    last = page.at(-1)
    if (last === undefined) return { stored, isLast: true }
  }
  return { stored, isLast: false }
}

/** Lists ids per label, 500 a response. Requesting the labels of each message would cost a hundred times as much. */
async function compareWindow(
  mailbox: GmailMailbox,
  storedMessages: KnownMailboxMessage[],
  { labels, q, signal }: { labels: readonly string[]; q: string; signal: AbortSignal },
): Promise<Window> {
  const present = new Map<string, string[]>()
  for await (const id of listIds(mailbox, { q }, signal)) present.set(id, [])
  if (present.size > 0) {
    for (const label of new Set([UNREAD, STARRED, ...labels])) {
      for await (const id of listIds(mailbox, { q, labelIds: label }, signal)) present.get(id)?.push(label)
    }
  }
  const stored = new Set(storedMessages.map(({ providerMessageId }) => providerMessageId))
  return {
    stored: storedMessages,
    unknown: [...present.keys()].filter((id) => !stored.has(id)),
    missing: [...stored].filter((id) => !present.has(id)),
    changed: storedMessages.flatMap((message) => difference(message, present.get(message.providerMessageId))),
  }
}

async function* listIds(
  mailbox: GmailMailbox,
  query: { q: string; labelIds?: string },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const links = new PageLinks('listing messages')
  for (let pageToken: string | undefined; ; ) {
    const page = await listPage(mailbox, { ...query, pageToken }, signal).catch((error: unknown) => {
      // A label may be deleted between the list of labels and this request. Then no message has it.
      const isMissing = error instanceof ProviderError && (error.kind === 'not_found' || error.kind === 'rejected')
      if (query.labelIds === undefined || !isMissing || error.missingScope) throw error
      return { ids: [], next: undefined }
    })
    yield* page.ids
    if (page.next === undefined) return
    pageToken = links.follow(page.next, page.ids.length)
  }
}

/** The change of a stored message that has these labels now; empty when nothing changed. */
export function difference(
  message: KnownMailboxMessage,
  labelIds: readonly string[] | undefined,
): MailboxStep['changed'] {
  if (labelIds === undefined) return []
  const { unread, starred, folders } = labelState(labelIds)
  const isSame =
    message.unread === unread &&
    message.starred === starred &&
    message.folders.length === folders.length &&
    folders.every((folder) => message.folders.includes(folder))
  return isSame ? [] : [{ providerMessageId: message.providerMessageId, unread, starred, folders }]
}
