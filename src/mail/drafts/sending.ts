import type { Tx } from '../../platform/db/index.ts'
import { AppError, type ErrorDetail, invalid, invalidFields } from '../../platform/errors/app-error.ts'
import type { Log } from '../../platform/log/index.ts'
import type { DraftBody, RemoteAddress } from '../../providers/contract/index.ts'
import { checkAddress, isMessageId } from '../../providers/shared/mime/index.ts'
import { draftHash, findInThread, type MessageReader, parseFields, toMessageId } from '../messages/index.ts'
import type { Composition, Outbox } from '../outbox/index.ts'
import {
  checkSender,
  MAX_RECIPIENTS,
  parseSendAt,
  readAttachments,
  type SenderDeps,
  type SendResult,
} from '../outgoing/index.ts'
import type { SendDraftBody } from './api.ts'
import { withDraftLock } from './store.ts'
import { beingChanged, MAX_READS, type StoredDraft, type StoredDrafts, type StoredDraftsDeps } from './stored-drafts.ts'

export interface DraftSendingDeps extends StoredDraftsDeps, Pick<SenderDeps, 'sending'> {
  log: Log
  outbox: Pick<Outbox, 'sendingAccount' | 'prepare' | 'accept'>
  reader: Pick<MessageReader, 'openAttachment'>
}

/** Sends drafts: a request accepts the current version into the outbox; once it was sent, the outbox deletes the draft. */
export function draftSending(deps: DraftSendingDeps, stored: StoredDrafts) {
  const { db, clock, log, outbox, reader } = deps

  /** The message that the draft is. Throws `validation_failed` for one that cannot be sent. */
  async function compose({ row, account }: StoredDraft, body: DraftBody): Promise<Composition> {
    if (row.error !== null) {
      throw new AppError('provider_rejected', { message: `The draft cannot be read completely: ${row.error}` })
    }
    const fields = parseFields(row.fields)
    const { from, messageId, inReplyTo, references } = fields
    const addresses = checkAddresses(fields)
    const sender = from === null ? undefined : checkAddress(from).address
    // Mail programs that save drafts on a mail server know the user's other addresses; this service does not.
    if (sender !== undefined && account.provider !== 'imap') await checkSender(deps, account, sender, 'draft.from')
    ensureComplete(body, fields.attachments.length)
    const attachments = await readAttachments(
      fields.attachments.map(({ id, inline, contentId }, index) => ({
        path: `draft.attachments.${index}`,
        contentId: inline ? contentId : null,
        open: () => reader.openAttachment(row.accountId, row.id, id),
      })),
    )
    return {
      ...addresses,
      subject: row.subject,
      attachments,
      inReplyTo,
      references,
      headers: [],
      text: body.text,
      html: body.html,
      from: sender,
      messageId: messageId !== null && isMessageId(messageId) ? messageId : undefined,
    }
  }

  /** Reads the complete draft from the provider, all of it from one version. */
  async function read(draftId: string, ifMatch: number | undefined): Promise<[StoredDraft, Composition]> {
    const found = await stored.find(draftId)
    const mailbox = await stored.open(found)
    let draft = await stored.refresh(found, mailbox)
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const before = draft
      const composition = await unlessReplaced(async () => {
        const body = await stored.readBody(before)
        await stored.ensureVersion(before, body, ifMatch)
        return compose(before, body)
      })
      draft = await stored.refresh(before, mailbox)
      if (composition !== undefined && draft.row.version === before.row.version) return [draft, composition]
    }
    throw beingChanged()
  }

  return {
    /** Prepares the current version of a draft; the function returned accepts it into the outbox. `ifMatch` as for a change. */
    async send(draftId: string, request: SendDraftBody, ifMatch: number | undefined) {
      const errors: ErrorDetail[] = []
      const sendAt = parseSendAt(request.sendAt, clock.now(), errors)
      if (errors.length > 0) throw invalidFields(errors)
      const { row, account } = await stored.find(draftId)
      await outbox.sendingAccount(account.id)
      const lock = { messageId: row.id, accountId: account.id }
      const [draft, composition] = await withDraftLock(deps, lock, () => read(draftId, ifMatch))
      const { accountId, threadId } = draft.row
      const replied =
        composition.inReplyTo === null || threadId === null
          ? undefined
          : await findInThread(db.read, { accountId, threadId }, composition.inReplyTo)
      const prepared = await outbox.prepare(account, composition, {
        sendAt,
        tracked: request.tracking,
        repliesTo: replied ?? null,
        draft: { id: draftId, hash: draftHash(draft.row) },
      })
      return (tx: Tx): Promise<SendResult> => outbox.accept(tx, prepared)
    },

    /** Deletes a draft that was sent. Keeps one with another hash: it was changed since the request that sent it. May be repeated. */
    async deleteSent(accountId: string, { id, hash }: { id: string; hash: string }): Promise<void> {
      await withDraftLock(deps, { messageId: toMessageId(id) ?? id, accountId }, async () => {
        const found = await unlessReplaced(() => stored.find(id))
        if (found === undefined) return
        const mailbox = await stored.open(found)
        const draft = await unlessReplaced(() => stored.refresh(found, mailbox))
        // A process may have been killed after it deleted the draft at the provider.
        if (draft === undefined) return stored.forget(found)
        if (draftHash(draft.row) === hash) return stored.delete(draft, mailbox)
        log.info('A draft was changed after the request that sent it. It stays in the mailbox.', {
          accountId,
          operation: 'drafts.send',
          metadata: { draftId: id },
        })
      })
    },
  }
}

/** Undefined when what `work` reads no longer exists. */
async function unlessReplaced<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    throw error
  }
}

type Lists = Pick<ReturnType<typeof parseFields>, 'to' | 'cc' | 'bcc' | 'replyTo'>

/** Longer lists may have been cut when they were read: see `MAX_LIST` in `src/providers/shared/mime/headers/headers.ts`. */
const MAX_LIST_CHARS = 60_000
/** Longer texts may have been cut: see `MAX_BODY_BYTES` in `src/providers/imap/messages/live-parts.ts`, which counts encoded bytes. */
export const MAX_BODY_CHARS = 1_300_000
const MAX_ATTACHMENTS = 99

/** Other programs save drafts with anything in these fields, but a message goes only to addresses that are certain. */
function checkAddresses(fields: Lists): Lists {
  const errors: ErrorDetail[] = []
  const list = (name: keyof Lists) => {
    const path = `draft.${name}`
    if (fields[name].reduce((sum, text) => sum + encodedLength(text), 0) > MAX_LIST_CHARS) {
      errors.push({ path, message: 'is too long to be read completely' })
    }
    return fields[name].flatMap((text, index) => {
      const { address, problem } = checkAddress(text)
      if (address === undefined) errors.push({ path: `${path}.${index}`, message: problem })
      return address ?? []
    })
  }
  const checked: Lists = { to: list('to'), cc: list('cc'), bcc: list('bcc'), replyTo: list('replyTo') }
  const count = fields.to.length + fields.cc.length + fields.bcc.length
  if (count === 0) errors.push({ path: 'draft.to', message: 'must name at least one recipient' })
  if (count > MAX_RECIPIENTS) {
    errors.push({ path: 'draft.to', message: `must not name more than ${MAX_RECIPIENTS} recipients with cc and bcc` })
  }
  if (errors.length > 0) throw invalidFields(errors)
  return checked
}

/** At most this long in the header. */
function encodedLength({ name, email }: RemoteAddress): number {
  const isAscii = /^[\x20-\x7e]*$/.test(name)
  return email.length + (isAscii ? name.length : 3 * Buffer.byteLength(name)) + 8
}

function ensureComplete({ text, html }: DraftBody, attachments: number): void {
  if (Math.max(text?.length ?? 0, html?.length ?? 0) > MAX_BODY_CHARS) {
    throw invalid('draft.body', 'is too long to be read completely')
  }
  if (attachments > MAX_ATTACHMENTS) {
    throw invalid('draft.attachments', `must not have more than ${MAX_ATTACHMENTS} items`)
  }
}
