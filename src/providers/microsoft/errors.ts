import { type MailAccess, ProviderError } from '../contract/index.ts'
import { object, type RestResponse, statusError, text } from '../shared/rest/index.ts'
import { findPermission } from './permissions.ts'

/** In lower case: the user, or a guest of the directory, has no mailbox that Graph can reach. */
const NO_MAILBOX = [
  'mailboxnotenabledforrestapi',
  'mailboxnotsupportedforrestapi',
  'mailboxnothostedinexchangeonline',
  'errornonexistentmailbox',
  'errormissingemailaddress',
]

/** Whether the code of a schedule says that the person has no mailbox. */
export function isNoMailbox(code: string): boolean {
  return [...NO_MAILBOX, 'errormailrecipientnotfound'].includes(code.toLowerCase())
}

/** Graph's error codes, in lower case, that are more specific than the status. */
const CODES: Readonly<Record<string, (doing: string, byStatus: ProviderError) => ProviderError>> = {
  syncstatenotfound: cursorExpired,
  syncstateinvalid: cursorExpired,
  errorinvalidsyncstatedata: cursorExpired,
  resyncrequired: cursorExpired,
  // An id of another mailbox, or a malformed one.
  errorinvalididmalformed: notFound,
  errorinvalidid: notFound,
  erroritemnotfound: notFound,
  errorfoldernotfound: notFound,
  errorfolderexists: exists,
  errorduplicatetransactionid: (doing) => new ProviderError('exists', `${doing}: the event exists`),
  erroroccurrencecrossingboundary: (doing) =>
    refused(doing, 'Outlook does not move an instance of a series past the one before or after it'),
  errorinvalidmailboxitemid: notFound,
  // While Exchange moves or repairs a mailbox.
  errormailboxmoveinprogress: busy,
  errormailboxstoreunavailable: busy,
  errorirresolvableconflict: busy,
  ...Object.fromEntries(NO_MAILBOX.map((code) => [code, noMailbox])),
  authorization_requestdenied: directoryDenied,
  // Limits of sending. The variants `…ShowTierUpgrade` are for free accounts.
  ...Object.fromEntries(
    ['errorexceededmessagelimit', 'errorexceededhourlymessagelimit', 'errorexceededmaxrecipientlimit']
      .flatMap((code) => [code, `${code}showtierupgrade`])
      .concat('errorsubmissionquotaexceeded')
      .map((code) => [code, sendLimit]),
  ),
  errorquotaexceeded: (doing) => refused(doing, 'the mailbox is full', { maySucceedLater: true }),
  errormessagesizeexceeded: tooLarge,
  errorattachmentsizelimitexceeded: tooLarge,
  requestentitytoolarge: tooLarge,
  errorinvalidrecipients: (doing) =>
    refused(doing, 'Microsoft refuses the address of a recipient, or there are too many'),
  errorsendasdenied: (doing) =>
    refused(
      doing,
      'the user may not send from this mailbox. In the Exchange admin center, grant the user Send As or Send on Behalf for it',
    ),
  erroraccountsuspend: blocked,
  erroraccountsuspendshowtierupgrade: blocked,
  errormessageblocked: blocked,
  errormessagesubmissionblocked: blocked,
  errorexceededmaxrecipientlimitblock: blocked,
}

/** Whose token opens a mailbox: its owner's, that of a person with whom it is shared, or that of an application of the tenant. */
export type MailboxOpener = 'owner' | 'person' | 'application'

export function mailboxOpener({
  isApplication,
  settings,
}: Pick<MailAccess, 'isApplication' | 'settings'>): MailboxOpener {
  if (isApplication === true) return 'application'
  return settings.graph === undefined ? 'owner' : 'person'
}

/** The refused request, as far as it is known. */
interface DeniedRequest {
  opener?: MailboxOpener
  method?: string
  path?: string
}

/**
 * Maps Graph's errors. A 429 becomes `rate_limited`; `rest/client.ts` then pauses the mailbox and retries. Graph's error text stays
 * out of the message: it may quote anything.
 */
export function graphError(
  response: RestResponse,
  doing: string,
  nowMs: number,
  { opener = 'owner', ...request }: DeniedRequest = {},
): ProviderError {
  const byStatus = statusError(response, doing, nowMs)
  const { code: codeText, message } = object(object(response.body).error)
  const code = text(codeText) ?? ''
  // A limit that lasts hours: a pause of the mailbox would not help.
  if (byStatus.kind === 'rate_limited' && CODES[code.toLowerCase()] === sendLimit) return sendLimit(doing)
  if (byStatus.kind === 'rate_limited' || byStatus.kind === 'auth_expired') return byStatus
  if (response.status === 413) return tooLarge(doing)
  if (response.status === 412) return byStatus
  if (response.status === 503 || response.status === 504) return overloaded(doing, response.status, byStatus)
  if (UNKNOWN_ACTION.test(text(message) ?? '') || response.status === 405) return unknownAction(doing)
  if (APPLICATION_POLICY.test(text(message) ?? '')) return outsidePolicy(doing)
  if (code.toLowerCase() === 'erroraccessdenied') return DENIED[opener](doing, findPermission(request))
  // The second is of the directory, below `/users/{id}`. What the mailbox itself does not have is ErrorItemNotFound.
  const lost = opener === 'owner' ? ['errorinvaliduser'] : ['errorinvaliduser', 'request_resourcenotfound']
  if (lost.includes(code.toLowerCase())) return lostMailbox(doing, opener === 'application')
  return CODES[code.toLowerCase()]?.(doing, byStatus) ?? byStatus
}

/** https://learn.microsoft.com/graph/auth-limit-mailbox-access. The same words without `RAOP` are about a policy for users. */
const APPLICATION_POLICY = /Access to OData is disabled/i

function outsidePolicy(doing: string): ProviderError {
  const why =
    'Exchange Online does not let the application open this mailbox. Add the mailbox to its application access policy, or to the scope of its role (RBAC for Applications)'
  return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true, isOfApplication: true })
}

/** In place of a code. A national cloud says so of an action that only the worldwide one has. */
const UNKNOWN_ACTION = /^Resource not found for the segment/i

function unknownAction(doing: string): ProviderError {
  return new ProviderError('rejected', `${doing}: this Graph cannot do that`, { unsupported: true })
}

/**
 * The sync that passed the cursor starts over without one: `accounts/collections/sync-from-cursor.ts` (calendars, contacts),
 * `mail/sync/id-mailbox/sync.ts` (mail).
 */
function cursorExpired(doing: string): ProviderError {
  return new ProviderError('cursor_expired', `${doing}: the cursor has expired`)
}

function notFound(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: not found`)
}

/** Graph does not say which scope is missing, or whether the user may not open this item. */
function accessDenied(
  doing: string,
  permission = 'Mail.ReadWrite (for calendars Calendars.ReadWrite, for contacts Contacts.ReadWrite)',
): ProviderError {
  const why = `Microsoft denies access. The user, or the administrator of the tenant, may not have granted the scope ${permission}`
  return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true })
}

/** Graph does not say whether the user of the token lacks the right in Exchange or the scope. */
function sharedDenied(doing: string, permission?: string): ProviderError {
  const scopes =
    permission?.replaceAll(/\w+\.\w+/g, '$&.Shared') ??
    'Mail.ReadWrite.Shared (for its calendars Calendars.ReadWrite.Shared)'
  const why = `Microsoft does not let the user who opens this mailbox do that. An administrator of Exchange can give the user Full Access to it. The user may also not have granted ${scopes}`
  return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true })
}

/**
 * Graph sends the same code for a missing permission and for a mailbox outside the scope of a role.
 * https://learn.microsoft.com/exchange/permissions-exo/application-rbac
 */
function applicationDenied(
  doing: string,
  permission = 'Mail.ReadWrite, Mail.Send, Calendars.ReadWrite or Contacts.ReadWrite',
): ProviderError {
  const why = `Microsoft denies the application access to this mailbox. Check that an administrator of the tenant consented to the application permission ${permission}, or that a role with it in Exchange Online (RBAC for Applications) has the mailbox in its scope: Test-ServicePrincipalAuthorization shows that`
  return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true, isOfApplication: true })
}

const DENIED: Readonly<Record<MailboxOpener, (doing: string, permission?: string) => ProviderError>> = {
  owner: accessDenied,
  person: sharedDenied,
  application: applicationDenied,
}

/** The user of the token has lost the right to open the mailbox, or it was deleted. */
export function lostMailbox(doing: string, isOfApplication = false): ProviderError {
  const why = `the mailbox does not exist any more${isOfApplication ? '' : ', or is no longer shared with this user'}`
  return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true, isOfApplication })
}

/** Its messages must not be read as those of the account. */
export function otherMailbox(doing: string): ProviderError {
  const why =
    'the address leads to another mailbox than before. Connect it again: it becomes an account of its own, and the old one can be deleted'
  return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true, isOfApplication: true })
}

/** Of Entra ID, which has the users, in place of Exchange. */
function directoryDenied(doing: string): ProviderError {
  const why =
    'Microsoft denies access to the directory. It takes the application permission User.Read.All, with the consent of an administrator. Mailboxes can be connected by their addresses without it'
  return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true, isOfApplication: true })
}

/** Not `not_found`: that would mean that the message or the folder was deleted. */
function noMailbox(doing: string): ProviderError {
  const why = 'Graph cannot reach this mailbox (it may be on-premises, inactive, or without a licence)'
  return new ProviderError('rejected', `${doing}: ${why}`)
}

function refused(doing: string, why: string, options: { maySucceedLater?: boolean } = {}): ProviderError {
  return new ProviderError('rejected', `${doing}: ${why}`, options)
}

function sendLimit(doing: string): ProviderError {
  const why = "Microsoft's limit of messages or recipients for this account is reached"
  return refused(doing, why, { maySucceedLater: true })
}

function tooLarge(doing: string): ProviderError {
  return refused(doing, 'the message is larger than this mailbox may send')
}

function blocked(doing: string): ProviderError {
  return refused(
    doing,
    'Microsoft has blocked this account from sending. The user must sign in to Outlook and follow its instructions',
  )
}

function exists(doing: string): ProviderError {
  return new ProviderError('exists', `${doing}: the name is taken`)
}

/** Exchange is busy, or takes too long for this mailbox: see `PageSize`. */
function overloaded(doing: string, status: number, { retryAfterMs }: ProviderError): ProviderError {
  return new ProviderError('unavailable', `${doing}: the provider failed (${status})`, {
    busy: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}

function busy(doing: string, { retryAfterMs }: ProviderError): ProviderError {
  return new ProviderError('unavailable', `${doing}: the mailbox is busy`, {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}
