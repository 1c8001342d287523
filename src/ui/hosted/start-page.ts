import { html } from '../../lib/html.ts'
import { type FormErrors, firstInvalid, hidden, textField } from './fields.ts'
import { ICONS } from './icons.ts'
import { document, type PageContext } from './layout.ts'

interface StartPage {
  /** URL that the form posts to. */
  action: string
  session: string
  state: string
  email: string
}

export interface EmailPage extends StartPage {
  /** Providers that the user can choose without an address, in display order. When empty, the page shows no choice. */
  choices: readonly { provider: string; label: string }[]
  errors: FormErrors
}

/** The first step: an email address, or a provider. */
export function emailPage(context: PageContext, page: EmailPage): string {
  const isInvalid = firstInvalid(page.errors) !== undefined
  return document(context, {
    title: `${isInvalid ? 'Error: ' : ''}Connect your mailbox`,
    body: html`<h1>${heading(context)}</h1>
<p class="lead">Enter the email address of the mailbox you want to connect.</p>
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}
${textField({
  name: 'email',
  label: 'Email address',
  value: page.email,
  type: 'email',
  inputmode: 'email',
  autocomplete: 'email',
  placeholder: 'you@example.com',
  required: true,
  focus: !isInvalid,
  alert: true,
  errors: page.errors,
})}
<button class="button primary" type="submit">Continue</button>
${
  page.choices.length > 0 &&
  html`<div class="divider">or choose your provider</div>${page.choices.map(
    (choice) =>
      html`<button class="button secondary" type="submit" name="provider" value="${choice.provider}">${choice.label}</button>`,
  )}`
}
</form>`,
    footnote: html`<p>You can disconnect the mailbox at any time.</p>`,
  })
}

export interface ConsentPage extends StartPage {
  /** Display name, such as `Google`. */
  provider: string
}

/** The first step of a session that is limited to one OAuth provider. There is nothing to fill in. */
export function consentPage(context: PageContext, page: ConsentPage): string {
  return document(context, {
    title: 'Connect your mailbox',
    body: html`<h1>${heading(context)}</h1>
<p class="lead">Sign in with ${page.provider}${
      page.email !== '' && html` as <span class="address">${page.email}</span>`
    } and review the permissions.</p>
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}${hidden('email', page.email)}
<button class="button primary" type="submit">Continue with ${page.provider}</button>
</form>`,
    footnote: html`<p>${ICONS.lock}We never see your password. You can disconnect the mailbox at any time.</p>`,
  })
}

function heading({ brand }: PageContext): string {
  return `Connect your mailbox${brand.name === undefined ? '' : ` to ${brand.name}`}`
}
