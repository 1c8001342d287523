import type { Account } from '../../accounts/index.ts'
import type { Handle, Tx } from '../../platform/db/index.ts'
import type { Page } from '../../platform/formats/pagination.ts'
import type { UploadedFile } from '../../platform/http/index.ts'
import { bouncedRecipients } from '../bounces/index.ts'
import { reservedIds } from '../messages/index.ts'
import type { SendResult } from '../outgoing/index.ts'
import { type OutboxQuery, type OutboxView, outboxView, type SendBody } from './api.ts'
import { cancelMessage, type ResolveDeps, requireOnlyOne, resolveMessage } from './cancel-resolve.ts'
import { type Composition, type PreparedMessage, prepareMessage, type SendOptions } from './prepare.ts'
import { getSendingAccount, prepareRequest, type RequestDeps } from './request.ts'
import { outboxStore, SEND_QUEUE } from './store.ts'
import type { OutboxRow } from './tables.ts'

interface OutboxDeps extends RequestDeps, ResolveDeps {}

/** Messages to send. `prepare` and `accept` are the two halves of every request that sends. */
export interface Outbox {
  /** Throws not_found, consent_required, and provider_rejected for an account that must be connected again. */
  sendingAccount(idOrAlias: string): Promise<Account>
  /** Composes a message. It is neither stored nor sent before `accept`. */
  prepare(account: Account, composition: Composition, options: SendOptions): Promise<PreparedMessage>
  /** Checks and composes the message of a request and its files. Throws `validation_failed`, and as `sendingAccount`. */
  prepareRequest(idOrAlias: string, body: SendBody, files?: readonly UploadedFile[]): Promise<PreparedMessage>
  /**
   * Stores the message to send and reserves its id, in the transaction that answers the request. Returns the response. Throws
   * `conflict` when the draft is being sent already.
   */
  accept(tx: Tx, message: PreparedMessage): Promise<SendResult>
  /** The message that was sent, or may have been, with this value of `X-Posthorn-Id`. */
  findSent(tx: Tx, accountId: string, sentToken: string): Promise<{ messageId: string; subject: string } | undefined>
  /** Newest first. */
  list(query: OutboxQuery): Promise<Page<OutboxView>>
  /** Throws not_found. */
  get(id: string): Promise<OutboxView>
  /** Cancels a message that has not been sent. Throws not_found, and conflict once sending has begun. */
  cancel(tx: Tx, id: string): Promise<void>
  /** Ends a message that failed or whose outcome is unknown, or sends it again. Throws not_found, conflict. */
  resolve(tx: Tx, id: string, as: 'sent' | 'retry' | 'discard'): Promise<OutboxView>
}

export function outbox(deps: OutboxDeps): Outbox {
  const { db } = deps
  return {
    sendingAccount: (idOrAlias) => getSendingAccount(deps, idOrAlias),
    prepare: (account, composition, options) => prepareMessage(deps, account, composition, options),
    prepareRequest: (idOrAlias, body, files) => prepareRequest(deps, idOrAlias, body, files),
    accept: (tx, message) => acceptMessage(deps, tx, message),
    findSent: (tx, accountId, sentToken) => findSent(deps, tx, accountId, sentToken),

    async list(query) {
      const { items, pagination } = await outboxStore(db.read, db.dialect).list(query)
      return { items: await views(db.read, items), pagination }
    },

    get: async (id) => view(db.read, await outboxStore(db.read, db.dialect).get(id)),
    cancel: (tx, id) => cancelMessage(deps, tx, id),
    resolve: async (tx, id, as) => view(tx, await resolveMessage(deps, tx, id, as)),
  }
}

async function acceptMessage(
  deps: OutboxDeps,
  tx: Tx,
  { row, content, tracking }: PreparedMessage,
): Promise<SendResult> {
  const { accounts, db, queue } = deps
  const { accountId, messageId, rfcMessageId, sentToken } = row
  await accounts.hold(tx, accountId)
  await requireOnlyOne(deps, tx, row)
  await outboxStore(tx, db.dialect).insert(row, content)
  await deps.tracking.store(tx, tracking)
  await reservedIds.reserve(tx, { accountId, messageId, as: 'sent' }, [{ rfcMessageId }, { sentToken }], row.createdAt)
  const delayMs = Math.max(0, (row.dueAt ?? 0) - row.createdAt)
  await queue.addIn(tx, SEND_QUEUE, [accountId], { delayMs })
  return {
    success: true,
    result: {
      success: true,
      messageId,
      tracking: tracking.result,
    },
    outboxId: row.id,
    status: row.status,
  }
}

async function findSent({ db }: OutboxDeps, tx: Tx, accountId: string, sentToken: string) {
  const row = await outboxStore(tx, db.dialect).findByToken(sentToken)
  const wasAttempted = row?.accountId === accountId && row.committedAt !== null
  return wasAttempted ? { messageId: row.messageId, subject: row.subject } : undefined
}

async function view(handle: Handle, row: OutboxRow): Promise<OutboxView> {
  return outboxView(row, (await bouncedRecipients(handle, [row.messageId])).get(row.messageId))
}

async function views(handle: Handle, rows: readonly OutboxRow[]): Promise<OutboxView[]> {
  const bounced = await bouncedRecipients(
    handle,
    rows.map(({ messageId }) => messageId),
  )
  return rows.map((row) => outboxView(row, bounced.get(row.messageId)))
}
