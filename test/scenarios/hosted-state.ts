import type { ErrorCode } from '../../src/platform/errors/app-error.ts'
import type { MailAccess } from '../../src/providers/contract/index.ts'
import type { Translate } from '../../src/ui/hosted/index.ts'
import { APP_NAME, type HostedStage } from './hosted-stage.ts'
import { APPLICATION_STATE, type Visit } from './hosted-steps.ts'

/** A page of the flow, and how the user leaves it. */
export interface HostedState {
  name: string
  /** Brings the browser to the state, from nothing. */
  reach(visit: Visit): Promise<void>
  /** A text that must then be visible. */
  shows(t: Translate): string
  /** The page speaks English only. */
  isEnglish?: boolean
  /** The HTTP status of the page. Default: 200. */
  status?: number
  ends: Ending
  /** What is then stored of the session, as the application reads it. */
  session?: Record<string, unknown>
  /** Checks the servers and the secrets that are then stored of the connected mailbox. */
  checkAccess?(access: MailAccess, stage: HostedStage): void
}

/**
 * Where the user gets from a state: to the redirect URI with this error by the link with this text; to the redirect URI with the connected
 * mailbox, by itself or by a link; or nowhere: the page is shown for an instant, or belongs to no session that is known.
 */
type Ending =
  | { by: 'cancel' | 'return'; error: ErrorCode }
  | { by: 'itself' | 'continue'; provider: string; email: string }
  | 'nowhere'

export const CANCELLED = { by: 'cancel', error: 'consent_denied' } as const
export const failed = (error: ErrorCode) => ({ by: 'return', error }) as const
export const connected = (provider: string, email: string) => ({ by: 'itself', provider, email }) as const

/** Its servers are in the service's table. */
export const KNOWN = 'ada@posteo.de'

/** Leaves the state by its link, if it has one. Returns the URL that the browser gets to, and the expected one. */
export async function leave(visit: Visit, { ends }: HostedState): Promise<{ reached: string; expected: string }> {
  const { page, t, stage, code } = visit
  if (ends === 'nowhere') {
    const ways = page.getByRole('link', {
      name: new RegExp(`^(${t('page.cancel')}|${t('page.returnTo', { app: APP_NAME })})$`),
    })
    return { reached: `${await ways.count()} links to the application`, expected: '0 links to the application' }
  }
  if (ends.by !== 'itself') {
    const names = {
      cancel: t('page.cancel'),
      return: t('page.returnTo', { app: APP_NAME }),
      continue: t('start.continue'),
    }
    await page.getByRole('link', { name: names[ends.by], exact: true }).click()
  }
  await page.getByText('Welcome back').waitFor()
  const result =
    'error' in ends
      ? { status: ends.error === 'consent_denied' ? 'cancelled' : 'error', error: ends.error }
      : {
          status: 'success',
          accountId: String((await stage.hosted.status(code)).accountId),
          provider: ends.provider,
          email: ends.email,
        }
  const query = new URLSearchParams({ ...result, session: code, state: APPLICATION_STATE })
  return { reached: page.url(), expected: `${stage.redirectUri}&${query}` }
}
