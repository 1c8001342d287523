import { type Html, html } from '../../platform/formats/html.ts'
import { type FormErrors, firstInvalid, hidden, textField } from './fields.ts'
import { type Grant, grantList } from './grants.ts'
import { ICONS, providerMark } from './icons.ts'
import { editButton, editForm } from './identity.ts'
import { cancelLink, document, type PageContext } from './layout.ts'

interface StartPage {
  /** URL that the form posts to. */
  action: string
  session: string
  state: string
  email: string
}

interface EmailPage extends StartPage {
  /** Providers that the user can choose without an address, in display order. When empty, the page shows no choice. */
  choices: readonly { provider: string; label: string; mark?: string | undefined }[]
  /** The provider that the user chose before. The page then asks for the address only. */
  provider?: string | undefined
  errors: FormErrors
}

/** The first step: an email address, or a provider. */
export function emailPage(context: PageContext, page: EmailPage): string {
  const { t } = context
  const isInvalid = firstInvalid(page.errors) !== undefined
  return document(context, {
    title: isInvalid ? t('page.error', { title: t('start.title') }) : t('start.title'),
    body: html`<h1>${heading(context)}</h1>
<p class="lead">${t('start.lead')}</p>
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}${page.provider !== undefined && hidden('provider', page.provider)}
${textField(t, {
  name: 'email',
  label: t('email.label'),
  value: page.email,
  type: 'email',
  inputmode: 'email',
  autocomplete: 'email',
  placeholder: t('email.placeholder'),
  required: true,
  focus: !isInvalid,
  alert: true,
  errors: page.errors,
})}
<button class="button primary" type="submit">${t('start.continue')}</button>
${
  page.choices.length > 0 &&
  html`<div class="divider">${t('start.or')}</div>${page.choices.map(
    (choice) =>
      html`<button class="button secondary" type="submit" name="provider" value="${choice.provider}">${providerMark(choice.mark)}${choice.label}</button>`,
  )}`
}
</form>
${cancelLink(context)}`,
    footnote: html`<p>${t('start.disconnect')}</p>`,
  })
}

interface ConsentPage extends StartPage {
  /** Display name, such as `Google`. */
  provider: string
  grants: readonly Grant[]
  /** The mailbox is connected already. */
  isReconnect?: boolean
  /** The grants, among `grants`, that the connected mailbox lacks. */
  newGrants?: readonly Grant[]
  /** The sign-in takes the place of a password at a mail server, which the user may enter instead. */
  isMailServer?: boolean
}

/** The sign-in at an OAuth provider, as the first step of a session that is limited to it, or in place of a password. There is nothing to fill in. */
export function consentPage(context: PageContext, page: ConsentPage): string {
  const { t } = context
  const { provider, email } = page
  return document(context, {
    title: page.isReconnect ? t('reconnect.title') : t('start.title'),
    body: html`<h1>${page.isReconnect ? t('reconnect.title') : heading(context)}</h1>
<p class="lead">${
      email === ''
        ? t('consent.lead', { provider })
        : t.html('consent.leadAs', { provider, email: html`<span class="address">${email}</span>` })
    }</p>
${grantList(context, page.grants, page.newGrants)}
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}${hidden('email', page.email)}${page.isMailServer && html`${hidden('provider', 'imap')}${hidden('signIn', 'oauth')}`}
<button class="button primary" type="submit">${providerMark(provider)}${t('start.choose', { provider })}</button>
</form>
${
  page.isMailServer &&
  html`<p class="action">${editButton('password', html`${t('consent.usePassword')}`, 'button secondary')}</p>`
}
${page.isMailServer ? mailServerWays(context, page) : cancelLink(context)}`,
    footnote: html`<p>${ICONS.lock}${t('consent.promise', { provider })}</p>`,
  })
}

/** The user has entered the address before, and may have mistyped it. */
function mailServerWays(context: PageContext, page: ConsentPage): Html {
  const canChangeAddress = page.isReconnect !== true
  const back = canChangeAddress && editButton('address', html`${ICONS.back}${context.t('imap.back')}`)
  return html`<div class="ways">${back}${cancelLink(context)}</div>
${editForm({ ...page, editAction: page.action }, page.email)}`
}

function heading({ brand, t }: PageContext): string {
  return brand.name === undefined ? t('start.title') : t('start.titleTo', { app: brand.name })
}
