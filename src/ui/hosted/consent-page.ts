import { html } from '../../lib/html.ts'
import { hidden } from './fields.ts'
import { ICONS } from './icons.ts'
import { document, type PageContext } from './layout.ts'

export interface ConsentPage {
  /** Where the form is posted. */
  action: string
  session: string
  state: string
  email: string
  /** As people know it: `Google`. */
  provider: string
}

/** The first step when the application asked for one provider whose own page comes next: there is nothing to fill in. */
export function consentPage(context: PageContext, page: ConsentPage): string {
  const { brand } = context
  return document(context, {
    title: 'Connect your mailbox',
    body: html`<h1>Connect your mailbox${brand.name !== undefined && ` to ${brand.name}`}</h1>
<p class="lead">${
      page.email === ''
        ? html`You will sign in with ${page.provider} and choose what to allow.`
        : html`You will sign in with ${page.provider} as <span class="address">${page.email}</span> and choose what to allow.`
    }</p>
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}${hidden('email', page.email)}
<button class="button primary" type="submit">Continue with ${page.provider}</button>
</form>`,
    footnote: html`<p>${ICONS.lock}Your password is never shown to us. You can disconnect the mailbox at any time.</p>`,
  })
}
