import { schedulerRoutes } from '../../../src/booking/index.ts'
import { idempotency } from '../../../src/operations/idempotency/index.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import type { Log } from '../../../src/platform/log/index.ts'
import { addressGuard } from '../../../src/platform/net/index.ts'
import { type Clock, systemClock } from '../../../src/platform/time/clock.ts'
import { imapLink } from '../accounts/accounts.ts'
import { closing } from '../closing.ts'
import { testServer } from '../http/server.ts'
import { compose, resolveToLoopback } from '../service/composition.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

export interface SchedulerFixtureOptions {
  clock?: Clock
  log?: Log
  /** Default `loopback`. */
  privateTargets?: string
}

/** The scheduler of the app on a database, with its routes. Nothing is started. */
export function schedulerFixture(db: Db, options: SchedulerFixtureOptions = {}) {
  const { privateTargets = 'loopback', ...rest } = options
  const composed = closing(
    compose(db, {
      ...rest,
      guard: addressGuard({ privateTargets, resolve: resolveToLoopback, clock: systemClock }),
    }),
  )
  const { context, infrastructure, features } = composed
  const writing = idempotency({ db, clock: context.clock, sealer: infrastructure.secrets.sealer })
  const app = closing(testServer({ idempotency: writing, log: context.log }))
  schedulerRoutes(app, { scheduler: features.scheduler, idempotency: writing, authScreen: {} })
  const request = async (method: Method, url: string, payload?: unknown, headers: Record<string, string> = {}) => {
    const json = { 'content-type': 'application/json' }
    const body = payload === undefined ? undefined : typeof payload === 'string' ? payload : JSON.stringify(payload)
    const sent = { ...(body !== undefined && json), ...headers }
    const response = await app.inject({ method, url, headers: sent, ...(body !== undefined && { payload: body }) })
    const isJson = /json/.test(String(response.headers['content-type']))
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      json: isJson ? response.json() : undefined,
    }
  }
  let linked = 0
  return {
    ...composed,
    db,
    app,
    /** As the application, with a key. */
    call: (method: Method, url: string, payload?: unknown, headers: Record<string, string> = {}) =>
      request(method, url, payload, { authorization: 'Bearer good', ...headers }),
    /** As a guest, without a key. */
    visit: request,
    /** The id of a new account. */
    async account(): Promise<string> {
      linked += 1
      const email = `host${linked}@example.com`
      const link = imapLink({ email, providerUser: JSON.stringify(['imap.example.com', email, 'INBOX']) })
      const account = await db.transaction((tx) => features.accounts.link(tx, link))
      return account.id
    },
  }
}
