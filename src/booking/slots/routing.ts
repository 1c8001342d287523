import { AppError, type ErrorDetail } from '../../platform/errors/app-error.ts'
import type { Log } from '../../platform/log/index.ts'
import type { ApplicationCallbacks, RouteRequest } from '../callbacks/callbacks.ts'
import type { Route } from '../callbacks/response-checks.ts'
import type { BookingForm, Experience, Members } from '../experiences/experience.ts'

/** Where the answers of a guest lead. */
export type Routed =
  /** The experience itself, or with other hosts, or another one. */
  { experience: Experience } | { redirectUrl: string }

interface RoutingDeps {
  callbacks: Pick<ApplicationCallbacks, 'route'>
  log: Log
  findActive(slug: string): Promise<Experience | undefined>
  existingAccounts(ids: readonly string[]): Promise<Set<string>>
}

/** Asks the routing endpoint, then the rules of the form. Throws `callback_failed` and `callback_timeout`. */
export function router({ callbacks, log, findActive, existingAccounts }: RoutingDeps) {
  return async function route(experience: Experience, request: RouteRequest, signal: AbortSignal): Promise<Routed> {
    const { bookingForm } = experience.definition
    const answered = await callbacks.route(experience, request, signal)
    const found = answered ?? routeByRules(bookingForm, request.responses)
    if (found === undefined) return { experience }
    const source = answered === undefined ? 'bookingForm.routing' : 'callback.routing'
    const fail = (member: string, problem: string) =>
      failRoute(experience, request, { path: `${source}.${member}`, message: problem })
    if ('redirectUrl' in found) return found
    if ('slug' in found) {
      const other = found.slug === experience.slug ? experience : await findActive(found.slug)
      return { experience: other ?? fail('slug', 'is not the slug of an active experience') }
    }
    const existing = await existingAccounts(found.accountIds)
    const isComplete = found.accountIds.every((id) => existing.has(id))
    if (!isComplete) fail('accountIds', 'contains an id that no account has')
    const definition = { ...experience.definition, defaultAccountIds: found.accountIds }
    return { experience: { ...experience, definition } }
  }

  function failRoute({ slug }: Experience, { requestId }: RouteRequest, detail: ErrorDetail): never {
    log.warn(`Cannot follow the routing of the experience "${slug}": ${detail.path} ${detail.message}.`, {
      operation: 'scheduler.route',
      requestId,
      metadata: { experience: slug },
    })
    const message = 'The answers lead to hosts or a page that do not exist.'
    throw new AppError('callback_failed', { message, privateDetails: [detail] })
  }
}

/** The first rule that matches. */
function routeByRules(form: BookingForm | null, responses: Members): Route | undefined {
  const rule = form?.routing?.find(({ when }) => {
    const wanted = when.in ?? [when.equals]
    const response = responses[when.field]
    return [response].flat().some((value) => value !== undefined && wanted.includes(value as string | boolean))
  })
  if (rule === undefined) return undefined
  const { accountIds, slug, redirectUrl } = rule
  if (redirectUrl !== undefined) return { redirectUrl }
  if (slug !== undefined) return { slug }
  return accountIds === undefined ? undefined : { accountIds }
}
