import { type Html, html } from '../../platform/formats/html.ts'
import { checkField, hidden, NO_ERRORS } from './fields.ts'
import { ICONS } from './icons.ts'
import { identity } from './identity.ts'
import { cancelLink, document, type PageContext } from './layout.ts'

interface MailboxesPage {
  /** URL that the form posts to. */
  action: string
  session: string
  state: string
  /** Display name of the provider. */
  provider: string
  /** Address of the user's own mailbox. */
  own: string
  /** The user may leave out the own mailbox, because it is not connected yet. */
  canLeaveOut: boolean
  connectsOwn: boolean
  /** Addresses that were checked, and whether to connect them. */
  ready: readonly { email: string; isChosen: boolean }[]
  /** What the user entered and has to change. */
  entered: string
  /** How many addresses can be entered at a time. */
  limit: number
  /** What is wrong with the choice as a whole. */
  problem?: string | undefined
  /** A sentence for each address that cannot be connected. */
  errors: readonly string[]
  /** The sign-in that the next post continues, sealed. */
  signIn: string
}

/** The mailboxes of others that a signed-in user may open. Providers do not list them, so the user enters their addresses. */
export function mailboxesPage(context: PageContext, page: MailboxesPage): string {
  const { t } = context
  const title = t('mailboxes.title')
  const isInvalid = hasProblem(page)
  return document(context, {
    title: isInvalid ? t('page.error', { title }) : title,
    body: html`<h1>${title}</h1>
<p class="lead">${t('mailboxes.lead')}</p>
${identity(t, { email: page.own, provider: page.provider })}
${isInvalid && problems(context, page)}
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}${hidden('signIn', page.signIn)}
${page.ready.length > 0 && readyMailboxes(context, page)}
${addressField(context, page)}
${
  page.canLeaveOut
    ? checkField({
        name: 'own',
        label: t('mailboxes.own'),
        hint: t('mailboxes.ownHint'),
        checked: page.connectsOwn,
        errors: NO_ERRORS,
      })
    : hidden('own', 'true')
}
<button class="button primary" type="submit" data-busy="${t('mailboxes.checking')}">${t('mailboxes.connect')}</button>
<p class="status" role="status"></p>
</form>
${cancelLink(context)}`,
  })
}

function hasProblem({ problem, errors }: MailboxesPage): boolean {
  return problem !== undefined || errors.length > 0
}

function problems({ t }: PageContext, { problem, errors }: MailboxesPage): Html {
  const list = errors.length > 0 && html`<ul>${errors.map((error) => html`<li>${error}</li>`)}</ul>`
  return html`<div class="alert" id="mailboxes-error" role="alert">${ICONS.alert}<div><h2>${problem ?? t('mailboxes.problem')}</h2>${list}</div></div>`
}

/** Each can be left out again. */
function readyMailboxes({ t }: PageContext, { ready }: MailboxesPage): Html {
  return html`<fieldset class="ready"><legend>${t('mailboxes.ready')}</legend>${ready.map(
    ({ email, isChosen }, index) =>
      checkField({ name: `ready${index}`, label: email, checked: isChosen, errors: NO_ERRORS }),
  )}</fieldset>`
}

function addressField({ t }: PageContext, page: MailboxesPage): Html {
  const { entered, limit, ready } = page
  const isInvalid = hasProblem(page)
  const rows = Math.min(6, Math.max(3, entered.split('\n').length))
  return html`<div class="field"><label for="mailboxes">${t('mailboxes.label')}</label><textarea id="mailboxes" name="mailboxes" dir="ltr" rows="${rows}" maxlength="4000" autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" inputmode="email"${
    ready.length === 0 && html` placeholder="${t('mailboxes.placeholder')}"`
  }${isInvalid && html` aria-invalid="true"`} aria-describedby="${isInvalid ? 'mailboxes-error ' : ''}mailboxes-hint" autofocus>${entered}</textarea><p class="hint" id="mailboxes-hint">${t('mailboxes.hint', { count: String(limit) })}</p></div>`
}
