/** Sends messages of a mailbox at Graph: a draft is created, completed, and then sent under the same immutable id. */

import { replaceFailure } from '../../../platform/errors/programming-errors.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import {
  type MailAccess,
  ProviderError,
  type QueuedMessage,
  type Sender,
  type SendOutcome,
  type SendProvider,
  type SendSteps,
  type SentMessageRef,
} from '../../contract/index.ts'
import { isRefusal, object, once, text, toOutcome } from '../../shared/rest/index.ts'
import { type Graph, messagePath } from '../client.ts'
import { deleteOneForGood } from '../deletion.ts'
import { PageSize, withTop } from '../page-size.ts'
import { attacher } from './attachments.ts'
import { createDraft, type DraftWriter, isOwnField } from './create.ts'
import { DOING } from './limits.ts'
import { listSenders } from './senders.ts'

const SEND_MS = 120_000
const SEARCHING = 'searching Sent'
/** The sent message, copies of it that were received, and drafts. */
const MAX_FOUND = 50

export function microsoftSending(open: (access: MailAccess) => Graph, outbound: Outbound): SendProvider {
  return {
    open: (access) => microsoftSender(open(access), outbound, access.accountId),
    acceptsHeader: isOwnField,
    listSenders: (access, signal) => listSenders(open(access), signal),
  }
}

function microsoftSender(graph: Graph, outbound: Outbound, accountId: string): Sender {
  const attach = attacher(graph, outbound, accountId)

  /** `missing`: deleted, or Exchange has taken it out of Drafts and not yet stored it in Sent. */
  async function readState(id: string, doing: string, signal?: AbortSignal): Promise<'draft' | 'sent' | 'missing'> {
    try {
      const { isDraft } = await graph.get(messagePath(id), { query: { $select: 'isDraft' }, doing, signal }, object)
      return isDraft === false ? 'sent' : 'draft'
    } catch (error) {
      if (error instanceof ProviderError && error.kind === 'not_found') return 'missing'
      throw error
    }
  }

  async function find(rfcMessageId: string, doing: string, signal: AbortSignal) {
    const $filter = `internetMessageId eq '${rfcMessageId.replaceAll("'", "''")}'`
    const query = { $filter, $select: 'id,isDraft' }
    const pageSize = new PageSize()
    const first = ($top: number) => graph.page('/me/messages', { query: { ...query, $top }, doing, signal })
    let page = await pageSize.read(MAX_FOUND, first)
    const items = [...page.items]
    while (page.nextLink !== undefined && page.items.length > 0 && items.length < MAX_FOUND) {
      const next = graph.resolvePath(page.nextLink, doing)
      page = await pageSize.read(MAX_FOUND, (messages) => graph.page(withTop(next, messages), { doing, signal }))
      items.push(...page.items)
    }
    return items.flatMap(({ id, isDraft }) => {
      const found = text(id)
      return found === undefined ? [] : [{ id: found, isDraft: isDraft !== false }]
    })
  }

  /** Removes a draft, but no message that was sent. */
  async function remove(id: string, doing: string, signal?: AbortSignal): Promise<void> {
    if ((await readState(id, doing, signal)) !== 'draft') return
    await deleteOneForGood(graph, id, { doing, signal })
  }

  /** Removes what an earlier attempt has left. Returns true when the message was sent since then, perhaps by the user. */
  async function wasSentSince(message: QueuedMessage, signal: AbortSignal): Promise<boolean> {
    const { earlierDraftId, mayHaveDraft, rfcMessageId, originalDraftId } = message
    if (earlierDraftId !== null) {
      if ((await readState(earlierDraftId, DOING, signal)) === 'sent') return true
      await remove(earlierDraftId, DOING, signal)
    }
    // Also beside a known one: the attempt that was killed may have replaced it.
    if (mayHaveDraft) {
      const found = await find(rfcMessageId, DOING, signal)
      if (found.some(({ isDraft }) => !isDraft)) return true
      for (const { id } of found) if (id !== originalDraftId) await remove(id, DOING, signal)
    }
    return false
  }

  /**
   * Sends a draft. Users report messages that were sent although Graph returned an error, so a refusal is believed only when the message
   * is still a draft. After `rate_limited`, the next attempt finds that out.
   */
  async function submit(id: string, beforeSend: () => Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await graph.send('POST', `${messagePath(id)}/send`, { doing: DOING, signal, timeoutMs: SEND_MS, beforeSend })
    } catch (error) {
      if (!(error instanceof ProviderError) || !isRefusal(error) || error.kind === 'rate_limited') throw error
      const state = await readState(id, DOING).catch(replaceFailure(undefined))
      if (state === 'sent') return
      if (state === 'missing' || error.kind === 'not_found') {
        throw new ProviderError('unavailable', `${DOING}: Graph does not find the message`, { cause: error })
      }
      throw error
    }
  }

  async function send(message: QueuedMessage, steps: SendSteps, signal: AbortSignal): Promise<SendOutcome> {
    let draftId = message.earlierDraftId
    const commit = once(() => steps.onCommit({ providerMessageId: draftId }))
    const writer: DraftWriter = {
      graph,
      signal,
      attach: (id, attachment) => attach(id, attachment, { doing: DOING, signal }),
      async onDraft(id) {
        draftId = id
        await steps.onDraft(id)
      },
    }
    /** Removes the draft. A failure is ignored, because the next attempt removes it. */
    const tidy = async () => {
      if (draftId !== null && !signal.aborted) await remove(draftId, DOING).catch(() => {})
    }
    try {
      const outcome = await toOutcome(commit, async () => {
        if (await wasSentSince(message, signal)) await commit.run()
        else await submit(await createDraft(writer, message).catch(asUnavailable), commit.run, signal)
        return draftId
      })
      if (!outcome.sent && outcome.error.kind !== 'rate_limited') await tidy()
      return outcome
    } catch (error) {
      if (!commit.hasRun || commit.failure !== undefined) await tidy()
      throw error
    }
  }

  return {
    send,

    async wasSent({ providerMessageId, rfcMessageId }: SentMessageRef, signal) {
      if (providerMessageId !== null && (await readState(providerMessageId, SEARCHING, signal)) === 'sent') return true
      return (await find(rfcMessageId, SEARCHING, signal)).some(({ isDraft }) => !isDraft)
    },

    async discard({ providerMessageId }: SentMessageRef, signal) {
      if (providerMessageId !== null) await remove(providerMessageId, 'deleting a draft', signal)
    },

    close: async () => {},
  }
}

/** The user deleted the draft while it was completed. */
function asUnavailable(error: unknown): never {
  if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
  throw new ProviderError('unavailable', `${DOING}: the draft was deleted`, { cause: error })
}
