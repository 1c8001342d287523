/**
 * Gmail over its REST API: mailboxes of ids with one history each, live reads, push by Cloud Pub/Sub, and signing in with Google.
 * Failures leave this folder as `ProviderError` only. Knows no database and no routes.
 */
import { withTimeout } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import type { LoginProvider, PushProvider } from '../contract/index.ts'
import { type IdMailProvider, type Provider, ProviderError } from '../contract/index.ts'
import { type RestClientOptions, restClient } from '../rest/index.ts'
import { readProfile } from './api.ts'
import { gmailFailure } from './errors.ts'
import { listLabels } from './labels.ts'
import { gmailLiveReads } from './live-reads.ts'
import { gmailPush } from './push.ts'
import { GmailSession } from './session.ts'

export { type GmailLoginOptions, gmailLogin } from './login.ts'

export interface GmailDeps {
  /** `GOOGLE_API_URL`: root of gmail/v1 and batch. */
  apiUrl: string
  login?: LoginProvider
  clock: Clock
  /** Messages of one step, and what is kept of the client; tests make them small. */
  limits?: { stepMessages?: number; rest?: RestClientOptions['limits']; quota?: { perSecond: number; burst: number } }
}

const STEP_MESSAGES = 500
const VERIFY_MS = 10_000
const CONCURRENCY = 8
/** Google allows a user 15,000 units a minute. What may be spent at once and what comes back in a minute stay below it together. */
const QUOTA = { perSecond: 200, burst: 3000 }

/** One for the whole process: it holds the pace of each mailbox and the connections. */
export function gmailProvider(deps: GmailDeps): Provider & { mail: IdMailProvider; push: PushProvider } {
  const { apiUrl, login, clock, limits = {} } = deps
  const client = restClient({
    ...{ root: apiUrl, clock, failure: gmailFailure, limits: limits.rest ?? {} },
    pace: { concurrency: CONCURRENCY, quota: limits.quota ?? QUOTA },
  })
  return {
    name: 'gmail',
    ...(login && { login }),
    push: gmailPush(client),
    mail: {
      kind: 'mailbox',
      async verify(access, signal) {
        const mailbox = client.mailbox(access, { urgent: true })
        const looking = Promise.all([listLabels(mailbox, signal), readProfile(mailbox, signal)])
        const [folders] = await withTimeout(looking, VERIFY_MS, tooSlow)
        return { folders }
      },
      openSession: (access) => new GmailSession(client.mailbox(access), clock, limits.stepMessages ?? STEP_MESSAGES),
      liveReads: (access) => gmailLiveReads(client.mailbox(access, { urgent: true })),
      closeConnections: (accountId) => client.close(accountId),
    },
  }
}

function tooSlow(): ProviderError {
  return new ProviderError('unavailable', 'looking at the mailbox: no answer in time', { timedOut: true })
}
