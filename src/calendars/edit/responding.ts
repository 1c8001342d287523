import { readLive } from '../../accounts/index.ts'
import type { Tx } from '../../platform/db/index.ts'
import { type ErrorDetail, invalid, invalidFields } from '../../platform/errors/app-error.ts'
import type { RespondToEvent } from '../../providers/contract/index.ts'
import type { CalendarEventView } from '../api.ts'
import { LIVE_MS } from '../read/calendar-access.ts'
import { type EventAccess, type EventChangeDeps, type EventPath, requireNotify } from './access.ts'
import type { Scope, SendUpdates } from './api.ts'
import { whatIsLeft } from './deleting.ts'
import { parseText } from './input.ts'
import { chooseScope, storedRows, unstoredEvent, wholeSeries } from './scope.ts'
import { storeAccepted, storedView } from './storing.ts'

export interface InvitationResponse {
  response: RespondToEvent['response']
  comment?: string
}

/** Responds to invitations at the provider; the function returned stores what the event is then. */
export function invitationResponses(deps: EventChangeDeps, access: EventAccess) {
  async function respond(
    path: EventPath,
    { response, comment: commentText = '' }: InvitationResponse,
    { scope: givenScope, sendUpdates }: { scope: Scope | undefined; sendUpdates: SendUpdates },
  ): Promise<(tx: Tx) => Promise<CalendarEventView>> {
    const errors: ErrorDetail[] = []
    const comment = parseText('body.comment', commentText, errors)
    if (errors.length > 0) throw invalidFields(errors)
    const opened = await access.openEvent(path)
    const { account, calendar, edits } = opened
    const scope = chooseScope(opened.target, givenScope)
    if (scope === 'following') throw invalid('query.scope', 'can be this or all for a response')
    // Graph sends a response only on request, unlike other changes.
    if (account.provider !== 'microsoft') requireNotify(account, sendUpdates, true)
    const target = scope === 'this' ? opened.target : wholeSeries(opened.target)
    const signal = AbortSignal.timeout(LIVE_MS)
    const request = { ...target.remote, response, comment, notify: sendUpdates === 'all', signal }
    const event = await readLive('The event', () => edits.respond(request))
    const isSeries = target.event.recurrence.length > 0 || target.instance !== undefined
    const about = { account, calendar, before: storedRows(target), unstored: unstoredEvent(target), isSeries }
    if (event !== null) {
      return async (tx) => {
        await storeAccepted(deps, tx, { ...about, found: [event] })
        return storedView(tx, about, event, deps.clock.now())
      }
    }
    // Outlook removes a meeting that was declined.
    const left = await whatIsLeft({ target, edits }, signal)
    const attendees = target.event.attendees.map((attendee) =>
      attendee.self ? { ...attendee, responseStatus: response } : attendee,
    )
    const view = access.toView({ ...target, event: { ...target.event, status: 'cancelled', attendees } })
    return async (tx) => {
      await storeAccepted(deps, tx, { ...about, ...left })
      return { ...view, version: view.version + 1 }
    }
  }

  return { respond }
}
