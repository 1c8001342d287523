import { ProviderError } from '../contract/index.ts'
import { object, type RestResponse, statusError, text } from '../rest/index.ts'

/** Graph's error codes, in lower case, that are more specific than the status. */
const CODES: Readonly<Record<string, (doing: string, byStatus: ProviderError) => ProviderError>> = {
  syncstatenotfound: tooOld,
  syncstateinvalid: tooOld,
  errorinvalidsyncstatedata: tooOld,
  resyncrequired: tooOld,
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
  mailboxnotenabledforrestapi: (doing) =>
    new ProviderError('rejected', `${doing}: Graph cannot reach this mailbox (it may be on-premises)`),
  erroraccessdenied: accessDenied,
  authorization_requestdenied: accessDenied,
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
  errorsendasdenied: (doing) => refused(doing, 'the user may not send from this address'),
  erroraccountsuspend: blocked,
  erroraccountsuspendshowtierupgrade: blocked,
  errormessageblocked: blocked,
  errormessagesubmissionblocked: blocked,
  errorexceededmaxrecipientlimitblock: blocked,
}

/**
 * Maps Graph's errors. A 429 becomes `rate_limited`; `rest/client.ts` then pauses the mailbox and retries. Graph's error text stays
 * out of the message: it may quote anything.
 */
export function graphError(response: RestResponse, doing: string, nowMs: number): ProviderError {
  const byStatus = statusError(response, doing, nowMs)
  const code = text(object(object(response.body).error).code) ?? ''
  // A limit that lasts hours: a pause of the mailbox would not help.
  if (byStatus.kind === 'rate_limited' && CODES[code.toLowerCase()] === sendLimit) return sendLimit(doing)
  if (byStatus.kind === 'rate_limited' || byStatus.kind === 'auth_expired') return byStatus
  if (response.status === 413) return tooLarge(doing)
  if (response.status === 412) return byStatus
  return CODES[code.toLowerCase()]?.(doing, byStatus) ?? byStatus
}

function tooOld(doing: string): ProviderError {
  return new ProviderError('cursor_expired', `${doing}: the cursor has expired`)
}

function notFound(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: not found`)
}

/** Graph does not say which scope is missing, or whether the user may not open this item. */
function accessDenied(doing: string): ProviderError {
  const why =
    'Microsoft denies access. The user may not have granted the scope Mail.ReadWrite (for calendars Calendars.ReadWrite)'
  return new ProviderError('rejected', `${doing}: ${why}`, { missingScope: true })
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

function busy(doing: string, { retryAfterMs }: ProviderError): ProviderError {
  return new ProviderError('unavailable', `${doing}: the mailbox is busy`, {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}
