import { COMPANY_USER, OTHER_MAILBOX, SHARED_MAILBOX } from './hosted-stage.ts'
import { CANCELLED, connected, type HostedState } from './hosted-state.ts'
import { chooseShared, connectShared } from './hosted-steps.ts'

/** The choice of the shared mailboxes that a user of Microsoft may open. */
export const SHARED_STATES: readonly HostedState[] = [
  {
    name: 'choice of shared mailboxes',
    reach: (visit) => chooseShared(visit),
    shows: (t) => t('mailboxes.title'),
    ends: CANCELLED,
  },
  {
    name: 'shared mailboxes that did not open',
    reach: (visit) => chooseShared(visit, [SHARED_MAILBOX, OTHER_MAILBOX, 'support at acme']),
    shows: (t) => t('mailboxes.refused', { email: OTHER_MAILBOX }),
    ends: CANCELLED,
  },
  {
    name: 'no mailbox chosen',
    async reach(visit) {
      await chooseShared(visit)
      await visit.page.getByLabel(visit.t('mailboxes.own')).uncheck()
      await connectShared(visit)
    },
    shows: (t) => t('mailboxes.none'),
    ends: CANCELLED,
  },
  {
    name: 'success with a shared mailbox',
    reach: (visit) => chooseShared(visit, [SHARED_MAILBOX]),
    shows: () => 'Welcome back',
    ends: connected('microsoft', COMPANY_USER),
  },
]
