import { type Html, html, trustedHtml } from '../../lib/html.ts'
import { checkField, type FormFaults, faultSummary, firstFaulty, hidden, selectField, textField } from './fields.ts'
import { ICONS } from './icons.ts'
import { document, type PageContext } from './layout.ts'

/** What the form shows in its fields, as text; the password is never among it. */
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
  action: string
  session: string
  state: string
  values: ImapFormValues
  faults: FormFaults
  /** What this provider asks of its users, for people. */
  note?: string | undefined
  /** Folders to choose from, once they were listed. */
  folders?: readonly { path: string; label: string }[] | undefined
  /** Stands for the password that was typed before the folders were listed; opens only for the same server and user. */
  passwordToken?: string | undefined
  /** Back to the first step, where there is one. */
  backHref?: string | undefined
  /** Server by domain, for filling in while the address is typed. */
  knownServers?: Readonly<Record<string, string>> | undefined
  hosts: readonly string[]
}

const SECURITY = [
  { value: '', label: 'Automatic' },
  { value: 'true', label: 'TLS' },
  { value: 'false', label: 'STARTTLS' },
]

/** The second step for imap: sign in to the mail server. Both of its buttons work without JavaScript. */
export function imapPage(context: PageContext, page: ImapPage): string {
  const { values, faults } = page
  return document(context, {
    title: `${firstFaulty(faults) === undefined ? '' : 'Error: '}${page.folders === undefined ? 'Sign in to your mailbox' : 'Choose a folder'}`,
    body: html`<h1>${page.folders === undefined ? 'Sign in to your mailbox' : 'Choose a folder'}</h1>
<p class="lead">${
      page.folders === undefined
        ? 'Use the address, password and server of your mail program.'
        : 'Signing in worked. Choose which folder to connect, then finish.'
    }</p>
${faultSummary(faults)}
${page.note !== undefined && html`<p class="note">${page.note}</p>`}
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}
${
  page.folders === undefined
    ? account(page)
    : html`${folderSelect(page, page.folders)}<details><summary>${ICONS.chevron}Account<span class="optional">${values.email}</span></summary>${account(page)}</details>`
}
${advanced(page)}
<button class="button primary" type="submit" data-busy="Signing in to the mail server. This can take a few seconds.">Connect mailbox</button>
<button class="button secondary" type="submit" name="intent" value="folders" data-busy="Looking up the folders. This can take a few seconds.">${
      page.folders === undefined ? 'Choose a folder' : 'List the folders again'
    }</button>
<p class="status" role="status"></p>
</form>
${page.backHref !== undefined && html`<a class="back" href="${page.backHref}">${ICONS.back}Use another address</a>`}
${page.knownServers !== undefined && knownServers(page.knownServers)}`,
    footnote: html`<p>${ICONS.lock}Your password is stored encrypted and used only to reach this mailbox.</p>`,
  })
}

/** Who signs in where. */
function account(page: ImapPage): Html {
  const { values, faults } = page
  return html`${textField({
    name: 'email',
    label: 'Email address',
    value: values.email,
    type: 'email',
    inputmode: 'email',
    autocomplete: 'email',
    required: true,
    focus: values.email === '' && firstFaulty(faults) === undefined,
    faults,
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
  faults,
})}
${textField({ name: 'port', label: 'Port', value: values.port, inputmode: 'numeric', placeholder: '993', maxLength: 5, faults })}
</div>
<datalist id="known-hosts">${page.hosts.map((host) => html`<option value="${host}"></option>`)}</datalist>
${textField({
  name: 'username',
  label: 'User name',
  value: values.username,
  autocomplete: 'username',
  hint: 'Almost always your email address.',
  required: true,
  faults,
})}`
}

function passwordField(page: ImapPage): Html {
  const kept = page.passwordToken !== undefined
  return html`${kept && hidden('passwordToken', page.passwordToken ?? '')}${textField({
    name: 'password',
    label: 'Password',
    value: '',
    type: 'password',
    autocomplete: 'current-password',
    placeholder: kept ? 'As entered before' : undefined,
    hint: kept ? 'Leave empty to keep the one you entered.' : undefined,
    required: !kept,
    focus: page.values.email !== '' && firstFaulty(page.faults) === undefined && !kept,
    maxLength: 1024,
    faults: page.faults,
  })}`
}

function folderSelect(page: ImapPage, folders: readonly { path: string; label: string }[]): Html {
  return selectField({
    name: 'mailbox',
    label: 'Folder to connect',
    value: page.values.mailbox,
    options: folders.map((folder) => ({ value: folder.path, label: folder.label })),
    faults: page.faults,
  })
}

const ADVANCED = ['secure', 'allowSelfSigned', 'mailbox', 'smtp', 'caldav']

/** Closed until something in it was given or is wrong. */
function advanced(page: ImapPage): Html {
  const { values, faults } = page
  const given = Object.entries(values).some(
    ([name, value]) => isAdvanced(name) && value !== '' && !(name === 'mailbox' && (value === 'INBOX' || page.folders)),
  )
  const open = given || Object.keys(faults.fields).some(isAdvanced)
  return html`<details${open && html` open`}>
<summary>${ICONS.chevron}Advanced settings<span class="optional">optional</span></summary>
<fieldset><legend>IMAP</legend>
${
  page.folders === undefined &&
  textField({
    name: 'mailbox',
    label: 'Folder',
    value: values.mailbox,
    placeholder: 'INBOX',
    hint: 'The folder to connect; INBOX when empty.',
    maxLength: 1000,
    faults,
  })
}
${selectField({
  name: 'secure',
  label: 'Encryption',
  value: values.secure,
  options: SECURITY,
  hint: 'Automatic uses TLS, and STARTTLS on port 143.',
  faults,
})}
${checkField({
  name: 'allowSelfSigned',
  label: 'Accept a certificate that cannot be verified',
  hint: 'Only for a server of your own: whoever sits between could read the password.',
  checked: values.allowSelfSigned === 'true',
  faults,
})}
</fieldset>
<fieldset><legend>Sending mail (SMTP)</legend><p class="hint">Found by itself when empty.</p>
<div class="row">
${textField({ name: 'smtpHost', label: 'SMTP server', value: values.smtpHost, inputmode: 'url', placeholder: 'smtp.example.com', faults })}
${textField({ name: 'smtpPort', label: 'SMTP port', value: values.smtpPort, inputmode: 'numeric', placeholder: '465', maxLength: 5, faults })}
</div>
${selectField({ name: 'smtpSecure', label: 'SMTP encryption', value: values.smtpSecure, options: SECURITY, faults })}
${textField({ name: 'smtpUsername', label: 'SMTP user name', value: values.smtpUsername, hint: 'As for IMAP when empty.', faults })}
${textField({ name: 'smtpPassword', label: 'SMTP password', value: '', type: 'password', hint: 'As for IMAP when empty.', maxLength: 1024, faults })}
</fieldset>
<fieldset><legend>Calendar (CalDAV)</legend><p class="hint">Only where the mailbox has a calendar to connect.</p>
${textField({ name: 'caldavUrl', label: 'Calendar address', value: values.caldavUrl, type: 'url', inputmode: 'url', placeholder: 'https://dav.example.com/', maxLength: 2000, faults })}
${textField({ name: 'caldavUsername', label: 'Calendar user name', value: values.caldavUsername, hint: 'As for IMAP when empty.', faults })}
${textField({ name: 'caldavPassword', label: 'Calendar password', value: '', type: 'password', hint: 'As for IMAP when empty.', maxLength: 1024, faults })}
</fieldset>
</details>`
}

function isAdvanced(name: string): boolean {
  return ADVANCED.some((prefix) => name.startsWith(prefix))
}

/** A data block, not a script. The table is ours; `<` cannot end the element early all the same. */
function knownServers(servers: Readonly<Record<string, string>>): Html {
  const json = JSON.stringify(servers).replaceAll('<', '\\u003c')
  return html`<script type="application/json" id="known-servers">${trustedHtml(json)}</script>`
}
