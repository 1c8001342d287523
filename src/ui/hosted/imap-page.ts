import { type Html, html, trustedHtml } from '../../lib/html.ts'
import { checkField, errorSummary, type FormErrors, firstInvalid, hidden, selectField, textField } from './fields.ts'
import { ICONS } from './icons.ts'
import { cancelLink, document, type PageContext } from './layout.ts'
import type { Translate } from './texts/index.ts'

/** Fields whose values the form shows again, as text. Passwords are not among them. */
export const IMAP_FORM_FIELDS = [
  'email',
  'host',
  'port',
  'username',
  'secure',
  'allowSelfSigned',
  'mailbox',
  'smtpHost',
  'smtpPort',
  'smtpSecure',
  'smtpUsername',
  'caldavUrl',
  'caldavUsername',
] as const

export type ImapFormValues = Readonly<Record<(typeof IMAP_FORM_FIELDS)[number], string>>

export interface ImapPage {
  /** URL that the form posts to. */
  action: string
  session: string
  state: string
  values: ImapFormValues
  errors: FormErrors
  /** What this provider requires of its users first, such as an app password. */
  note?: string | undefined
  /** Folders to choose from, after a successful sign-in. */
  folders?: readonly { path: string; label: string }[] | undefined
  /** Replaces the passwords typed in the previous step. Valid only for the same servers and users. */
  passwordToken?: string | undefined
  /** Link to the first step. Absent when the session has none. */
  backHref?: string | undefined
  /** IMAP host by email domain, which the script fills in as the user types the address. */
  knownServers?: Readonly<Record<string, string>> | undefined
  /** Hosts that the server field suggests. */
  hosts: readonly string[]
  parts: ImapFormParts
}

/** The optional parts of the form. Values of a part that is not shown are carried along. */
export interface ImapFormParts {
  smtp: boolean
  caldav: boolean
}

const securityChoices = (t: Translate) => [
  { value: '', label: t('secure.automatic') },
  { value: 'true', label: 'TLS' },
  { value: 'false', label: 'STARTTLS' },
]

/** The second step for IMAP: sign in to the mail server. Both buttons work without JavaScript. */
export function imapPage(context: PageContext, page: ImapPage): string {
  const { values, errors } = page
  const { t } = context
  const title = t(page.folders === undefined ? 'imap.title' : 'folders.title')
  return document(context, {
    title: firstInvalid(errors) === undefined ? title : t('page.error', { title }),
    body: html`<h1>${title}</h1>
<p class="lead">${t(page.folders === undefined ? 'imap.lead' : 'folders.lead')}</p>
${errorSummary(t, errors)}
${page.note !== undefined && html`<p class="note">${page.note}</p>`}
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}
${
  page.folders === undefined
    ? account(t, page)
    : html`${folderSelect(t, page, page.folders)}<details><summary>${ICONS.chevron}${t('imap.account')}<span class="optional">${values.email}</span></summary>${account(t, page)}</details>`
}
${advanced(t, page)}
<button class="button primary" type="submit" data-busy="${t('imap.connecting')}">${t('imap.connect')}</button>
<button class="button secondary" type="submit" name="intent" value="folders" data-busy="${t('imap.loadingFolders')}">${t(page.folders === undefined ? 'imap.chooseFolder' : 'imap.reloadFolders')}</button>
<p class="status" role="status"></p>
</form>
<div class="ways">${page.backHref !== undefined && html`<a class="back" href="${page.backHref}">${ICONS.back}${t('imap.back')}</a>`}${cancelLink(context)}</div>
${page.knownServers !== undefined && knownServers(page.knownServers)}`,
    footnote: html`<p>${ICONS.lock}${t('imap.promise')}</p>`,
  })
}

/** Address, password and server. */
function account(t: Translate, page: ImapPage): Html {
  const { values, errors } = page
  return html`${textField(t, {
    name: 'email',
    label: t('email.label'),
    value: values.email,
    type: 'email',
    inputmode: 'email',
    autocomplete: 'email',
    required: true,
    focus: values.email === '' && firstInvalid(errors) === undefined,
    errors,
  })}
${passwordField(t, page)}
<div class="row">
${textField(t, {
  name: 'host',
  label: t('host.label'),
  value: values.host,
  inputmode: 'url',
  placeholder: 'imap.example.com',
  required: true,
  list: 'known-hosts',
  errors,
})}
${textField(t, { name: 'port', label: t('port.label'), value: values.port, inputmode: 'numeric', placeholder: '993', maxLength: 5, errors })}
</div>
<datalist id="known-hosts">${page.hosts.map((host) => html`<option value="${host}"></option>`)}</datalist>
${textField(t, {
  name: 'username',
  label: t('username.label'),
  value: values.username,
  autocomplete: 'username',
  hint: t('username.hint'),
  required: true,
  errors,
})}`
}

function passwordField(t: Translate, page: ImapPage): Html {
  const isEntered = page.passwordToken !== undefined
  return html`${isEntered && hidden('passwordToken', page.passwordToken ?? '')}${textField(t, {
    name: 'password',
    label: t('password.label'),
    value: '',
    type: 'password',
    autocomplete: 'current-password',
    placeholder: isEntered ? t('password.entered') : undefined,
    hint: isEntered ? t('password.enteredHint') : undefined,
    required: !isEntered,
    focus: page.values.email !== '' && firstInvalid(page.errors) === undefined && !isEntered,
    maxLength: 1024,
    errors: page.errors,
  })}`
}

function folderSelect(t: Translate, page: ImapPage, folders: readonly { path: string; label: string }[]): Html {
  return selectField({
    name: 'mailbox',
    label: t('folders.label'),
    value: page.values.mailbox,
    options: folders.map((folder) => ({ value: folder.path, label: folder.label })),
    errors: page.errors,
  })
}

/** Open when one of its fields has a value or an error. */
function advanced(t: Translate, page: ImapPage): Html {
  const { values, errors, parts } = page
  const shown = ['secure', 'allowSelfSigned', 'mailbox', ...(parts.smtp ? SMTP : []), ...(parts.caldav ? CALDAV : [])]
  const isFilled = Object.entries(values).some(
    ([name, value]) =>
      shown.includes(name) && value !== '' && !(name === 'mailbox' && (value === 'INBOX' || page.folders)),
  )
  const isOpen = isFilled || Object.keys(errors.fields).some((name) => shown.includes(name))
  return html`<details${isOpen && html` open`}>
<summary>${ICONS.chevron}${t('imap.advanced')}<span class="optional">${t('page.optional')}</span></summary>
<fieldset><legend>IMAP</legend>
${
  page.folders === undefined &&
  textField(t, {
    name: 'mailbox',
    label: t('mailbox.label'),
    value: values.mailbox,
    placeholder: 'INBOX',
    hint: t('mailbox.hint'),
    maxLength: 1000,
    errors,
  })
}
${selectField({
  name: 'secure',
  label: t('secure.label'),
  value: values.secure,
  options: securityChoices(t),
  hint: t('secure.hint'),
  errors,
})}
${checkField({
  name: 'allowSelfSigned',
  label: t('certificate.label'),
  hint: t('certificate.hint'),
  checked: values.allowSelfSigned === 'true',
  errors,
})}
</fieldset>
${parts.smtp ? smtp(t, page) : carried(page, SMTP)}
${parts.caldav ? caldav(t, page) : carried(page, CALDAV)}
</details>`
}

const SMTP = ['smtpHost', 'smtpPort', 'smtpSecure', 'smtpUsername', 'smtpPassword'] as const
const CALDAV = ['caldavUrl', 'caldavUsername', 'caldavPassword'] as const

/** The values of a part that the form does not show. Passwords are in the token. */
function carried({ values }: ImapPage, names: readonly string[]): Html[] {
  return Object.entries(values).flatMap(([name, value]) =>
    names.includes(name) && value !== '' ? hidden(name, value) : [],
  )
}

function smtp(t: Translate, { values, errors }: ImapPage): Html {
  return html`<fieldset><legend>${t('smtp.legend')}</legend><p class="hint">${t('smtp.hint')}</p>
<div class="row">
${textField(t, { name: 'smtpHost', label: t('smtp.host'), value: values.smtpHost, inputmode: 'url', placeholder: 'smtp.example.com', errors })}
${textField(t, { name: 'smtpPort', label: t('smtp.port'), value: values.smtpPort, inputmode: 'numeric', placeholder: '465', maxLength: 5, errors })}
</div>
${selectField({ name: 'smtpSecure', label: t('smtp.secure'), value: values.smtpSecure, options: securityChoices(t), errors })}
${textField(t, { name: 'smtpUsername', label: t('smtp.username'), value: values.smtpUsername, hint: t('same.username'), errors })}
${textField(t, { name: 'smtpPassword', label: t('smtp.password'), value: '', type: 'password', hint: t('same.password'), maxLength: 1024, errors })}
</fieldset>`
}

function caldav(t: Translate, { values, errors }: ImapPage): Html {
  return html`<fieldset><legend>${t('caldav.legend')}</legend><p class="hint">${t('caldav.hint')}</p>
${textField(t, { name: 'caldavUrl', label: t('caldav.url'), value: values.caldavUrl, type: 'url', inputmode: 'url', placeholder: 'https://dav.example.com/', maxLength: 2000, errors })}
${textField(t, { name: 'caldavUsername', label: t('caldav.username'), value: values.caldavUsername, hint: t('same.username'), errors })}
${textField(t, { name: 'caldavPassword', label: t('caldav.password'), value: '', type: 'password', hint: t('same.password'), maxLength: 1024, errors })}
</fieldset>`
}

/** A JSON data block, not a script. Escaping `<` keeps the data from ending the element. */
function knownServers(servers: Readonly<Record<string, string>>): Html {
  const json = JSON.stringify(servers).replaceAll('<', '\\u003c')
  return html`<script type="application/json" id="known-servers">${trustedHtml(json)}</script>`
}
