import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { App } from '../../../platform/http/index.ts'
import type { Log } from '../../../platform/log/index.ts'
import {
  type MailProvider,
  missingForShared,
  ProviderError,
  type ProviderName,
  type TokenSet,
} from '../../../providers/contract/index.ts'
import type { Translate } from '../../../ui/hosted/index.ts'
import { type Account, type Accounts, oauthMailboxes, type VerificationLimit } from '../../index.ts'
import { sharedBody } from '../api.ts'
import type { AdmittedPost, HostedAccess } from '../hosted/access.ts'
import { renderConnected } from '../hosted/connected.ts'
import { hostedLimits } from '../hosted/limits.ts'
import type { AuthSessions } from '../sessions/service.ts'
import type { AuthSession } from '../sessions/store.ts'
import { type CheckResult, checkAddresses } from './check.ts'
import { type EnteredAddresses, MAX_ADDRESSES, parseEntered } from './entered-addresses.ts'
import { renderSharedPage, SHARED_PATH, type SharedPageDeps } from './page.ts'
import type { PendingSignIn } from './pending-sign-in.ts'

interface SharedRoutesDeps extends SharedPageDeps {
  sessions: AuthSessions
  access: HostedAccess
  accounts: Pick<Accounts, 'findLinked'>
  verifications: VerificationLimit
  /** The mail side of a provider. When undefined, no mailbox is checked. */
  mail(provider: ProviderName): Pick<MailProvider, 'verify' | 'closeConnections'> | undefined
  log: Log
}

/** More than anybody opens in Outlook. They are linked in one transaction. */
const MAX_READY = 50

/** The last step at Microsoft: the mailboxes that others share with the user. */
export function sharedRoutes(app: App, deps: SharedRoutesDeps): void {
  app.post(
    SHARED_PATH,
    {
      ...deps.pages.route,
      attachValidation: true,
      config: { access: 'public', form: true, rateLimit: hostedLimits('body', 'session', { perMinute: 20 }) },
      // Only the page posts here: its body is the sealed sign-in.
      schema: { hide: true, body: sharedBody },
    },
    (request, reply) => submit(deps, request, reply),
  )
}

/**
 * Whether a sign-in that began on a hosted page leads to the choice. Without the scopes nobody could open a shared mailbox; without a refresh
 * token the sign-in has to be repeated first.
 */
export function canChooseShared(session: AuthSession, { scopes, refreshToken }: TokenSet): boolean {
  return session.sharedMailboxes && refreshToken !== undefined && missingForShared(scopes, ['mail.read']).length === 0
}

/** The own mailbox can be left out until it is connected. */
export async function canLeaveOutOwn(
  { accounts }: Pick<SharedRoutesDeps, 'accounts'>,
  { customUserId }: AuthSession,
  { user }: PendingSignIn,
): Promise<boolean> {
  return (await accounts.findLinked('microsoft', customUserId, user.email)).length === 0
}

async function submit(deps: SharedRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const { access, pendingSignIns } = deps
  const post = await access.admit(request)
  const { body, session, state } = post
  const signIn = pendingSignIns.open(body.signIn, session.id, state)
  access.allowPost(request, reply, post)
  const canLeaveOut = await canLeaveOutOwn(deps, session, signIn)
  const connectsOwn = body.own === 'true' || !canLeaveOut
  const entered = parseEntered(body.mailboxes)
  const checked = await checkEntered(deps, request, post, signIn, entered)
  const leftOut = new Set(signIn.ready.filter((_email, index) => body[`ready${index}`] === undefined))
  const next = { ...signIn, ready: checked.ready }
  const chosen = checked.ready.filter((email) => !leftOut.has(email))
  const isNothing = checked.left.length === 0 && chosen.length === 0 && !connectsOwn
  if (checked.left.length > 0 || isNothing) {
    return renderSharedPage(deps, reply, post, next, {
      leftOut,
      entered: checked.left.join('\n'),
      connectsOwn,
      canLeaveOut,
      problem: isNothing ? (t) => t('mailboxes.none') : checked.problem,
      errors: checked.errors,
    })
  }
  const account = await link(deps, request, post, next, { chosen, connectsOwn })
  return renderConnected(deps, reply, post, account, { isSeveral: chosen.length > 0 })
}

interface Checked {
  /** All that opened, now and before. */
  ready: readonly string[]
  /** Entries that the user has to change. */
  left: string[]
  problem(t: Translate): string | undefined
  errors(t: Translate): string[]
}

/** A post that opens every mailbox uses up no attempt of the session. */
async function checkEntered(
  deps: SharedRoutesDeps,
  request: FastifyRequest,
  { code, session }: AdmittedPost,
  { tokens, user, ready }: PendingSignIn,
  { addresses, invalid, isTooMany }: EnteredAddresses,
): Promise<Checked> {
  const known = new Set(ready.map((email) => email.toLowerCase()))
  const isOwn = (email: string) => email.toLowerCase() === user.email.toLowerCase()
  const unknown = addresses.filter((email) => !known.has(email.toLowerCase()) && !isOwn(email))
  if (isTooMany || known.size + unknown.length > MAX_READY) {
    const problem = (t: Translate) => t('mailboxes.tooMany', { count: String(MAX_ADDRESSES) })
    return { ready, left: [...addresses, ...invalid], problem, errors: () => [] }
  }
  const results = await open(deps, request, { code, session, tokens }, unknown)
  const byResult = (wanted: CheckResult) => unknown.filter((email) => results.get(email) === wanted)
  const groups = [
    ['mailboxes.invalid', invalid],
    ['mailboxes.isOwn', addresses.filter(isOwn)],
    ['mailboxes.refused', byResult('refused')],
    ['mailboxes.unavailable', byResult('unavailable')],
  ] as const
  return {
    ready: [...ready, ...byResult('opened')],
    left: groups.flatMap(([, emails]) => emails),
    problem: () => undefined,
    errors: (t) => groups.flatMap(([key, emails]) => emails.map((email) => t(key, { email }))),
  }
}

async function open(
  { sessions, verifications, mail, log }: SharedRoutesDeps,
  request: FastifyRequest,
  { code, session, tokens }: Pick<AdmittedPost, 'code' | 'session'> & Pick<PendingSignIn, 'tokens'>,
  addresses: readonly string[],
): Promise<Map<string, CheckResult>> {
  const provider = mail('microsoft')
  if (addresses.length === 0 || provider === undefined) return new Map(addresses.map((email) => [email, 'opened']))
  await sessions.takeAttempt(code, session)
  try {
    const results = await verifications.run([request.ip], () => checkAddresses(provider, tokens, addresses))
    const values = [...results.values()]
    if (!values.includes('refused')) await sessions.returnAttempt(session)
    log.info('A user named shared mailboxes.', {
      operation: 'auth.shared',
      provider: 'microsoft',
      requestId: request.id,
      metadata: { opened: values.filter((value) => value === 'opened').length, of: values.length },
    })
    return results
  } catch (error) {
    await sessions.returnAttempt(session)
    if (error instanceof ProviderError) throw new AppError('consent_used', { cause: error })
    throw error
  }
}

/** Links the mailbox of the user and the shared ones, or none of them. The grant belongs to the account of the user, which is paused when left out. */
async function link(
  { sessions, log }: SharedRoutesDeps,
  request: FastifyRequest,
  { code, session }: AdmittedPost,
  { tokens, user }: PendingSignIn,
  { chosen, connectsOwn }: { chosen: readonly string[]; connectsOwn: boolean },
): Promise<Account> {
  try {
    const own = { provider: 'microsoft' as const, email: user.email, providerUser: user.id, tokens }
    const account = await sessions.link(
      code,
      session,
      { ...own, settings: {}, secrets: {}, paused: !connectsOwn },
      chosen.map(oauthMailboxes.toShared),
    )
    log.info('A user signed in at the provider.', {
      accountId: account.id,
      provider: 'microsoft',
      operation: 'auth.shared',
      requestId: request.id,
      metadata: { shared: chosen.length },
    })
    return account
  } catch (error) {
    if (error instanceof AppError) await sessions.fail(session, error.code)
    throw error
  }
}
