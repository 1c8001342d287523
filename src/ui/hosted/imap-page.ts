import { type Html, html, trustedHtml } from '../../lib/html.ts'
import { checkField, errorSummary, type FormErrors, firstInvalid, hidden, selectField, textField } from './fields.ts'
import { ICONS } from './icons.ts'
import { document, type PageContext } from './layout.ts'

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

const SECURITY = [
  { value: '', label: 'Automatic' },
  { value: 'true', label: 'TLS' },
  { value: 'false', label: 'STARTTLS' },
]

/** The second step for IMAP: sign in to the mail server. Both buttons work without JavaScript. */
export function imapPage(context: PageContext, page: ImapPage): string {
  const { values, errors } = page
  const title = page.folders === undefined ? 'Sign in to your mailbox' : 'Choose a folder'
  return document(context, {
    title: `${firstInvalid(errors) === undefined ? '' : 'Error: '}${title}`,
    body: html`<h1>${title}</h1>
<p class="lead">${
      page.folders === undefined
        ? 'Use the same settings as in your email app.'
        : 'You are signed in. Choose the folder to connect.'
    }</p>
${errorSummary(errors)}
${page.note !== undefined && html`<p class="note">${page.note}</p>`}
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}
${
  page.folders === undefined
    ? account(page)
    : html`${folderSelect(page, page.folders)}<details><summary>${ICONS.chevron}Account<span class="optional">${values.email}</span></summary>${account(page)}</details>`
}
${advanced(page)}
<button class="button primary" type="submit" data-busy="Signing in to your mail server. This can take a few seconds.">Connect mailbox</button>
<button class="button secondary" type="submit" name="intent" value="folders" data-busy="Loading your folders. This can take a few seconds.">${
      page.folders === undefined ? 'Choose a folder' : 'Reload folders'
    }</button>
<p class="status" role="status"></p>
</form>
${page.backHref !== undefined && html`<a class="back" href="${page.backHref}">${ICONS.back}Use a different address</a>`}
${page.knownServers !== undefined && knownServers(page.knownServers)}`,
    footnote: html`<p>${ICONS.lock}Your password is encrypted and used only to access this mailbox.</p>`,
  })
}

/** Address, password and server. */
function account(page: ImapPage): Html {
  const { values, errors } = page
  return html`${textField({
    name: 'email',
    label: 'Email address',
    value: values.email,
    type: 'email',
    inputmode: 'email',
    autocomplete: 'email',
    required: true,
    focus: values.email === '' && firstInvalid(errors) === undefined,
    errors,
  })}
${passwordField(page)}
<div class="row">
${textField({
  name: 'host',
  label: 'IMAP server',
  value: values.host,
  inputmode: 'url',
  placeholder: 'imap.example.com',
  required: true,
  list: 'known-hosts',
  errors,
})}
${textField({ name: 'port', label: 'Port', value: values.port, inputmode: 'numeric', placeholder: '993', maxLength: 5, errors })}
</div>
<datalist id="known-hosts">${page.hosts.map((host) => html`<option value="${host}"></option>`)}</datalist>
${textField({
  name: 'username',
  label: 'Username',
  value: values.username,
  autocomplete: 'username',
  hint: 'Usually your email address.',
  required: true,
  errors,
})}`
}

function passwordField(page: ImapPage): Html {
  const isEntered = page.passwordToken !== undefined
  return html`${isEntered && hidden('passwordToken', page.passwordToken ?? '')}${textField({
    name: 'password',
    label: 'Password',
    value: '',
    type: 'password',
    autocomplete: 'current-password',
    placeholder: isEntered ? 'Already entered' : undefined,
    hint: isEntered ? 'Leave empty to use the password you already entered.' : undefined,
    required: !isEntered,
    focus: page.values.email !== '' && firstInvalid(page.errors) === undefined && !isEntered,
    maxLength: 1024,
    errors: page.errors,
  })}`
}

function folderSelect(page: ImapPage, folders: readonly { path: string; label: string }[]): Html {
  return selectField({
    name: 'mailbox',
    label: 'Folder to connect',
    value: page.values.mailbox,
    options: folders.map((folder) => ({ value: folder.path, label: folder.label })),
    errors: page.errors,
  })
}

/** Open when one of its fields has a value or an error. */
function advanced(page: ImapPage): Html {
  const { values, errors, parts } = page
  const shown = ['secure', 'allowSelfSigned', 'mailbox', ...(parts.smtp ? SMTP : []), ...(parts.caldav ? CALDAV : [])]
  const isFilled = Object.entries(values).some(
    ([name, value]) =>
      shown.includes(name) && value !== '' && !(name === 'mailbox' && (value === 'INBOX' || page.folders)),
  )
  const isOpen = isFilled || Object.keys(errors.fields).some((name) => shown.includes(name))
  return html`<details${isOpen && html` open`}>
<summary>${ICONS.chevron}Advanced settings<span class="optional">optional</span></summary>
<fieldset><legend>IMAP</legend>
${
  page.folders === undefined &&
  textField({
    name: 'mailbox',
    label: 'Folder',
    value: values.mailbox,
    placeholder: 'INBOX',
    hint: 'The folder to connect. Default: INBOX.',
    maxLength: 1000,
    errors,
  })
}
${selectField({
  name: 'secure',
  label: 'Encryption',
  value: values.secure,
  options: SECURITY,
  hint: 'Automatic uses STARTTLS on port 143 and TLS on every other port.',
  errors,
})}
${checkField({
  name: 'allowSelfSigned',
  label: 'Accept a certificate that cannot be verified',
  hint: 'Only for a server you run yourself. Otherwise someone on the network could read your password.',
  checked: values.allowSelfSigned === 'true',
  errors,
})}
</fieldset>
${parts.smtp ? smtp(page) : carried(page, SMTP)}
${parts.caldav ? caldav(page) : carried(page, CALDAV)}
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

function smtp({ values, errors }: ImapPage): Html {
  return html`<fieldset><legend>Sending (SMTP)</legend><p class="hint">Leave empty to detect the settings automatically.</p>
<div class="row">
${textField({ name: 'smtpHost', label: 'SMTP server', value: values.smtpHost, inputmode: 'url', placeholder: 'smtp.example.com', errors })}
${textField({ name: 'smtpPort', label: 'SMTP port', value: values.smtpPort, inputmode: 'numeric', placeholder: '465', maxLength: 5, errors })}
</div>
${selectField({ name: 'smtpSecure', label: 'SMTP encryption', value: values.smtpSecure, options: SECURITY, errors })}
${textField({ name: 'smtpUsername', label: 'SMTP username', value: values.smtpUsername, hint: 'Leave empty to use the IMAP username.', errors })}
${textField({ name: 'smtpPassword', label: 'SMTP password', value: '', type: 'password', hint: 'Leave empty to use the IMAP password.', maxLength: 1024, errors })}
</fieldset>`
}

function caldav({ values, errors }: ImapPage): Html {
  return html`<fieldset><legend>Calendar (CalDAV)</legend><p class="hint">Only if the mailbox has a calendar you want to connect.</p>
${textField({ name: 'caldavUrl', label: 'Calendar URL', value: values.caldavUrl, type: 'url', inputmode: 'url', placeholder: 'https://dav.example.com/', maxLength: 2000, errors })}
${textField({ name: 'caldavUsername', label: 'Calendar username', value: values.caldavUsername, hint: 'Leave empty to use the IMAP username.', errors })}
${textField({ name: 'caldavPassword', label: 'Calendar password', value: '', type: 'password', hint: 'Leave empty to use the IMAP password.', maxLength: 1024, errors })}
</fieldset>`
}

/** A JSON data block, not a script. Escaping `<` keeps the data from ending the element. */
function knownServers(servers: Readonly<Record<string, string>>): Html {
  const json = JSON.stringify(servers).replaceAll('<', '\\u003c')
  return html`<script type="application/json" id="known-servers">${trustedHtml(json)}</script>`
}
