import type { FastifyReply } from 'fastify'
import { html } from '../../../platform/formats/html.ts'
import { continuePage } from '../../../ui/hosted/index.ts'
import type { Account } from '../../index.ts'
import { successUrl } from '../sessions/urls.ts'
import type { AdmittedPost, HostedAccess } from './access.ts'
import type { HostedPages } from './pages.ts'

/** Takes the user back to the application. `isSeveral`: the user connected further mailboxes with this one. */
export function renderConnected(
  { access, pages }: { access: HostedAccess; pages: HostedPages },
  reply: FastifyReply,
  post: AdmittedPost,
  account: Account,
  { isSeveral = false } = {},
): string {
  const { code, state, session, applicationState } = post
  access.revokePost(reply, code, state)
  const email = html`<span class="address">${account.email}</span>`
  return pages.render(reply, post, (context) => {
    const { t } = context
    const app = context.brand.name
    const one = app === undefined ? t.html('connected.text', { email }) : t.html('connected.textTo', { email, app })
    const several = app === undefined ? t('mailboxes.connected') : t('mailboxes.connectedTo', { app })
    return continuePage(context, {
      title: t(isSeveral ? 'mailboxes.connectedTitle' : 'connected.title'),
      text: isSeveral ? several : one,
      href: successUrl(session.redirectUri, code, account, applicationState),
      label: t('start.continue'),
      done: true,
    })
  })
}
