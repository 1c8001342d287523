import type { FastifyReply } from 'fastify'
import { mailboxesPage, type Translate } from '../../../ui/hosted/index.ts'
import type { SessionPage } from '../hosted/access.ts'
import type { HostedPages } from '../hosted/pages.ts'
import { MAX_ADDRESSES } from './entered-addresses.ts'
import type { PendingSignIn, PendingSignIns } from './pending-sign-in.ts'

export interface SharedPageDeps {
  pages: HostedPages
  pendingSignIns: PendingSignIns
  publicUrl: string
}

/** The form with the user's entries, shown again with what is wrong with them. */
interface SharedForm {
  /** Ready addresses that the user does not want after all. */
  leftOut?: ReadonlySet<string>
  entered?: string
  connectsOwn?: boolean
  /** The own mailbox is not connected yet, so the user may leave it out. */
  canLeaveOut: boolean
  problem?(t: Translate): string | undefined
  errors?(t: Translate): string[]
}

export const SHARED_PATH = '/auth/authorize/mailboxes'

/** The choice of shared mailboxes, after the sign-in. */
export function renderSharedPage(
  { pages, pendingSignIns, publicUrl }: SharedPageDeps,
  reply: FastifyReply,
  page: SessionPage,
  signIn: PendingSignIn,
  {
    leftOut = new Set(),
    entered = '',
    connectsOwn = true,
    canLeaveOut,
    problem = () => undefined,
    errors = () => [],
  }: SharedForm,
): string {
  return pages.render(reply, page, (context) =>
    mailboxesPage(context, {
      action: publicUrl + SHARED_PATH,
      session: page.code,
      state: page.state,
      provider: 'Microsoft',
      own: signIn.user.email,
      canLeaveOut,
      connectsOwn,
      ready: signIn.ready.map((email) => ({ email, isChosen: !leftOut.has(email) })),
      entered,
      limit: MAX_ADDRESSES,
      problem: problem(context.t),
      errors: errors(context.t),
      signIn: pendingSignIns.issue(signIn, page.session.id, page.state),
    }),
  )
}
