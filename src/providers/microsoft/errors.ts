import { ProviderError } from '../contract/index.ts'
import { type RestResponse, statusFailure } from '../rest/index.ts'
import { object, text } from './json.ts'

/** Graph's own codes, in lower case, where they say more than the status. */
const CODES: Readonly<Record<string, (doing: string) => ProviderError>> = {
  syncstatenotfound: tooOld,
  syncstateinvalid: tooOld,
  errorinvalidsyncstatedata: tooOld,
  resyncrequired: tooOld,
  // An id of another mailbox, or of none.
  errorinvalididmalformed: gone,
  errorinvalidid: gone,
  erroritemnotfound: gone,
  errorfoldernotfound: gone,
  errorinvalidmailboxitemid: gone,
  // While Exchange moves or mends a mailbox.
  errormailboxmoveinprogress: busy,
  errormailboxstoreunavailable: busy,
  errorirresolvableconflict: busy,
  mailboxnotenabledforrestapi: (doing) =>
    new ProviderError('rejected', `${doing}: the mailbox cannot be reached by Graph`),
  erroraccessdenied: (doing) => new ProviderError('rejected', `${doing}: the access granted does not cover it`),
}

/** What an answer that says no means. Graph's words stay out of the message: they may quote anything. */
export function graphFailure(answer: RestResponse, doing: string, nowMs: number): ProviderError {
  const failure = statusFailure(answer, doing, nowMs)
  if (failure.kind === 'rate_limited' || failure.kind === 'auth_expired') return failure
  return CODES[codeOf(answer.body)]?.(doing) ?? failure
}

function codeOf(body: unknown): string {
  return (text(object(object(body).error).code) ?? '').toLowerCase()
}

function tooOld(doing: string): ProviderError {
  return new ProviderError('cursor_expired', `${doing}: the position is too old to go on from`)
}

function gone(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: it is no longer there`)
}

function busy(doing: string): ProviderError {
  return new ProviderError('unavailable', `${doing}: the mailbox is busy`)
}
