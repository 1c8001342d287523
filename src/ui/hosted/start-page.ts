import { html } from '../../lib/html.ts'
import { type FormFaults, firstFaulty, hidden, textField } from './fields.ts'
import { document, type PageContext } from './layout.ts'

export interface EmailPage {
  /** Where the form is posted. */
  action: string
  session: string
  state: string
  email: string
  /** Providers that may be picked without an address, in order; none hides the choice. */
  choices: readonly { provider: string; label: string }[]
  faults: FormFaults
}

/** The first step: whose mailbox is it, or which provider. */
export function emailPage(context: PageContext, page: EmailPage): string {
  const { brand } = context
  return document(context, {
    title: `${firstFaulty(page.faults) === undefined ? '' : 'Error: '}Connect your mailbox`,
    body: html`<h1>Connect your mailbox${brand.name !== undefined && ` to ${brand.name}`}</h1>
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
  focus: firstFaulty(page.faults) === undefined,
  alert: true,
  faults: page.faults,
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
