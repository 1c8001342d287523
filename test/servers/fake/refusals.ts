import type { Route } from './router.ts'

/**
 * How a provider refuses one calendar: no access, as both answer for calendars of others; a scope, as Graph answers for both; an id
 * that does not exist, or no longer; a failure of the server; the token.
 */
export type Refusal = 'forbidden' | 'missing-scope' | 'not-found' | 'gone' | 'server-error' | 'unauthorized'

export interface Refused {
  as: Refusal
  /** Only pages after the first, as Graph does for resource mailboxes. */
  laterPages?: boolean
}

/** Calendars that are listed and cannot be read, until a test says otherwise. */
export class Refusals {
  readonly #refused = new Map<string, Refused>()

  /** Null: from now on, the calendar can be read. */
  set(user: string, calendarId: string, refused: Refused | null): void {
    if (refused === null) this.#refused.delete(`${user} ${calendarId}`)
    else this.#refused.set(`${user} ${calendarId}`, refused)
  }

  of(user: string | null, calendarId: string, isLaterPage = false): Refusal | undefined {
    const refused = this.#refused.get(`${user} ${calendarId}`)
    return refused === undefined || (refused.laterPages === true && !isLaterPage) ? undefined : refused.as
  }

  /** The routes below one calendar, whose id is the parameter `name`. */
  routes(
    routes: readonly Route[],
    name: string,
    { isLaterPage, toResponse }: { isLaterPage(url: URL): boolean; toResponse(refusal: Refusal): Response },
  ): Route[] {
    return routes.map((route) => ({
      ...route,
      handle: (request) => {
        const id = request.params[name] ?? ''
        const refusal = this.of(request.user, id === 'primary' ? (request.user ?? '') : id, isLaterPage(request.url))
        return refusal === undefined ? route.handle(request) : toResponse(refusal)
      },
    }))
  }
}
