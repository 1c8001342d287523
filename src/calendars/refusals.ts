import {
  type CalendarAccount,
  type CalendarEdits,
  type CalendarProvider,
  type MailAccess,
  ProviderError,
} from '../providers/contract/index.ts'

/**
 * The provider, whose live requests distinguish a refused calendar from a missing scope. Graph answers both with the same error, and
 * only one of them ends with a new sign-in: an account that lists its calendars, and reads its own, has the scope. Sync does
 * so by itself.
 */
export function withCalendarRefusals(provider: CalendarProvider): CalendarProvider {
  const { edits } = provider
  return {
    ...provider,
    open(access) {
      const account = provider.open(access)
      return { ...account, readRange: (request) => judged(account, request, () => account.readRange(request)) }
    },
    ...(edits !== undefined && {
      edits: (access: MailAccess) => judgedChanges(provider.open(access), edits(access)),
    }),
  }
}

/** The error of a calendar that is refused, although the account is not. */
export function calendarRefused(cause: ProviderError): ProviderError {
  const what = 'reading the calendar: the provider gives no access to it'
  return new ProviderError('rejected', what, { denied: true, cause })
}

/** A provider that answers with 410 to a request without a cursor. */
export function calendarGone(cause: ProviderError): ProviderError {
  return new ProviderError('not_found', 'reading the calendar: it no longer exists', { cause })
}

interface CalendarRequest {
  calendarId: string
  signal: AbortSignal
}

async function judged<T>(
  account: CalendarAccount,
  { calendarId, signal }: CalendarRequest,
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'cursor_expired') throw calendarGone(error)
    if (isScope(error) && (await isOnlyRefused(account, calendarId, signal))) throw calendarRefused(error)
    throw error
  }
}

function judgedChanges(account: CalendarAccount, edits: CalendarEdits): CalendarEdits {
  return {
    getEvent: (target, signal) =>
      judged(account, { calendarId: target.calendarId, signal }, () => edits.getEvent(target, signal)),
    createEvent: (request) => judged(account, request, () => edits.createEvent(request)),
    updateEvent: (request) => judged(account, request, () => edits.updateEvent(request)),
    deleteEvent: (request) => judged(account, request, () => edits.deleteEvent(request)),
    respond: (request) => judged(account, request, () => edits.respond(request)),
  }
}

function isScope(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.missingScope
}

/** Whether the calendar is one of others, and the account may still list its calendars. A user's own calendar is never refused. */
async function isOnlyRefused(account: CalendarAccount, id: string, signal: AbortSignal): Promise<boolean> {
  try {
    const calendars = await account.listCalendars(signal)
    return !calendars.some(({ calendarId, primary }) => primary && calendarId === id)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return false
  }
}
