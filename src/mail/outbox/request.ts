import { type Account, type Accounts, scopeChecks } from '../../accounts/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import type { UploadedFile } from '../../platform/http/index.ts'
import type { ProviderName, RemoteAddress, SendProvider } from '../../providers/contract/index.ts'
import { labelStore } from '../labels/index.ts'
import type { MessageReader } from '../messages/index.ts'
import {
  checkSender,
  MAX_RECIPIENTS,
  openReferences,
  readAttachments,
  type UnreadAttachment,
} from '../outgoing/index.ts'
import type { SendBody } from './api.ts'
import { type ParsedInput, parseInput } from './input.ts'
import { type Composition, type PrepareDeps, type PreparedMessage, prepareMessage } from './prepare.ts'
import { recipientsOfReply, referencesOfReply } from './reply-fields.ts'

export interface RequestDeps extends PrepareDeps {
  accounts: Accounts
  reader: MessageReader
  sending(provider: ProviderName): SendProvider
}

/** Throws not_found, consent_required, and provider_rejected for an account that must be connected again. */
export async function getSendingAccount({ accounts, db }: RequestDeps, idOrAlias: string): Promise<Account> {
  const { id } = await accounts.resolve(db.read, idOrAlias)
  const account = await accounts.get(id)
  await scopeChecks.requireConnected(accounts, account, ['mail.send'])
  return account
}

/** Checks and composes the message of a request and its files. Throws `validation_failed`, and as `getSendingAccount`. */
export async function prepareRequest(
  deps: RequestDeps,
  idOrAlias: string,
  body: SendBody,
  files?: readonly UploadedFile[],
): Promise<PreparedMessage> {
  const { reader } = deps
  const account = await getSendingAccount(deps, idOrAlias)
  const input = parseInput(body, files, deps.clock.now())
  checkHeaders(deps, account, input)
  if (input.from !== undefined) await checkSender(deps, account, input.from, 'body.from')
  const replied = await findMessage(reader, account, 'replyToMessageId', body.replyToMessageId)
  const forwarded = await findMessage(reader, account, 'forwardMessageId', body.forwardMessageId)
  const to = await chooseRecipients(deps, account, body, input, replied)
  const subject = chooseSubject(body, replied, forwarded)
  if (body.body === undefined && forwarded === undefined) throw invalid('body.body', 'is required')
  const text = body.body ?? ''
  const attachments = openReferences(reader, account.id, input.attachments)
  if (forwarded !== undefined) attachments.push(forwardedMessage(reader, account, forwarded))
  const composition: Composition = {
    from: input.from,
    to,
    cc: input.cc,
    bcc: input.bcc,
    replyTo: input.replyTo,
    headers: input.headers,
    subject,
    attachments: await readAttachments(attachments),
    text: body.isHtml === true ? null : text,
    html: body.isHtml === true ? text : null,
    inReplyTo: replied?.messageId ?? null,
    references: replied === undefined ? [] : referencesOfReply(replied),
  }
  return prepareMessage(deps, account, composition, {
    sendAt: input.sendAt,
    repliesTo: replied ?? null,
    draft: null,
    tracked: body.tracking,
  })
}

function checkHeaders({ sending }: RequestDeps, { provider }: Account, { headers }: ParsedInput): void {
  const refused = headers.find(({ name }) => sending(provider).acceptsHeader?.(name) === false)
  if (refused === undefined) return
  const message = `A ${provider} account sends only header fields whose names begin with X-, not ${refused.name}.`
  throw new AppError('not_supported', { message })
}

type StoredMessage = Awaited<ReturnType<MessageReader['message']>>

/** The message that the field names; undefined without the field. */
async function findMessage(
  reader: MessageReader,
  { id }: Account,
  field: string,
  messageId: string | null | undefined,
): Promise<StoredMessage | undefined> {
  if (!messageId) return undefined
  return reader.message(id, messageId).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'not_found') {
      throw invalid(`body.${field}`, 'is not the id of a message of this account')
    }
    throw error
  })
}

/** The recipients that the request names, or else those that a reply goes to. */
async function chooseRecipients(
  { db }: RequestDeps,
  { email: ownEmail }: Account,
  body: SendBody,
  { to, cc, bcc }: ParsedInput,
  replied: StoredMessage | undefined,
): Promise<RemoteAddress[]> {
  if (to.length > 0 || (cc.length + bcc.length > 0 && body.to !== undefined)) return to
  if (replied === undefined) {
    if (cc.length + bcc.length === 0) throw invalid('body.to', 'must name at least one recipient')
    return to
  }
  const labels = await labelStore(db.read).byIds(replied.labelIds)
  const isInSent = [...labels.values()].some(({ role }) => role === 'sent')
  const recipients = recipientsOfReply(replied, { ownEmail, isInSent })
  if (recipients.length === 0) {
    throw invalid('body.to', 'must name the recipients: the message names no address that a reply can go to')
  }
  if (recipients.length + cc.length + bcc.length > MAX_RECIPIENTS) {
    throw invalid('body.to', `must name the recipients: those of the message are more than ${MAX_RECIPIENTS}`)
  }
  return recipients
}

function chooseSubject(
  { subject }: SendBody,
  replied: StoredMessage | undefined,
  forwarded: StoredMessage | undefined,
): string {
  if (subject !== undefined && subject !== '') return subject
  if (replied !== undefined) return withPrefix('Re:', replied.subject)
  if (forwarded !== undefined) return withPrefix('Fwd:', forwarded.subject)
  throw invalid('body.subject', 'is required')
}

function withPrefix(prefix: string, subject: string): string {
  return subject.toLowerCase().startsWith(prefix.toLowerCase()) ? subject : `${prefix} ${subject}`.trim()
}

/** The message as a file that is attached to the new one. */
function forwardedMessage(reader: MessageReader, account: Account, { id, subject }: StoredMessage): UnreadAttachment {
  const file = {
    filename: `${subject || 'message'}.eml`,
    contentType: 'message/rfc822',
  }
  return {
    path: 'body.forwardMessageId',
    contentId: null,
    open: async () => ({ ...file, read: (await reader.openRaw(account.id, id)).read }),
  }
}
