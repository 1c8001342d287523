import { html } from '../../platform/formats/html.ts'
import { hidden } from './fields.ts'
import { ICONS } from './icons.ts'
import { editButton, editForm, identity } from './identity.ts'
import { cancelLink, document, type PageContext } from './layout.ts'

export interface ObstaclePage {
  /** URL of the first step, which all forms post to. */
  editAction: string
  session: string
  state: string
  email: string
  /** Display name of the mail provider. */
  provider: string
  title: string
  text: string
  /** The sign-in page that the user can continue to. */
  signIn?: { provider: string; label: string } | undefined
  /** The provider was guessed, so the user may know better. */
  canEnterServer: boolean
  canChangeAddress: boolean
}

/** Shown instead of a password field where no password can work. */
export function obstaclePage(context: PageContext, page: ObstaclePage): string {
  const { t, brand, cancelHref } = context
  const { email, provider, signIn } = page
  const returnLabel = brand.name === undefined ? t('page.return') : t('page.returnTo', { app: brand.name })
  return document(context, {
    title: page.title,
    body: html`<h1>${page.title}</h1>
<p class="lead">${page.text}</p>
${identity(t, { email, provider })}
${
  signIn !== undefined
    ? html`<form method="post" action="${page.editAction}">${hidden('session', page.session)}${hidden('state', page.state)}${hidden('email', email)}<button class="button primary" type="submit" name="provider" value="${signIn.provider}">${signIn.label}</button></form>`
    : cancelHref !== undefined &&
      html`<p class="action"><a class="button primary" href="${cancelHref}" rel="noreferrer">${returnLabel}</a></p>`
}
${page.canEnterServer && html`<p class="action">${editButton('server', html`${t('imap.enterServer')}`, 'button secondary')}</p>`}
<div class="ways">${page.canChangeAddress && editButton('address', html`${ICONS.back}${t('imap.back')}`)}${signIn !== undefined && cancelLink(context)}</div>
${editForm(page, email)}`,
  })
}
