import { type Html, html } from '../../platform/formats/html.ts'
import { MAIL_PORTS } from '../../platform/formats/mail-ports.ts'
import { checkField, firstInvalid, selectField, textField } from './fields.ts'
import { ICONS } from './icons.ts'
import type { EnteredField, ImapFormValues, ImapPage } from './imap-page.ts'
import type { Translate } from './texts/index.ts'

const SMTP = ['smtpHost', 'smtpPort', 'smtpSecure', 'smtpUsername', 'smtpPassword'] as const
const CALDAV = ['caldavUrl', 'caldavUsername', 'caldavPassword'] as const

/** Values of settings that neither the user nor the service chose. */
const DEFAULTS: Partial<ImapFormValues> = { port: String(MAIL_PORTS.imaps), mailbox: 'INBOX' }

const securityChoices = (t: Translate) => [
  { value: '', label: t('secure.automatic') },
  { value: 'true', label: 'TLS' },
  { value: 'false', label: 'STARTTLS' },
]

/**
 * Settings that most users leave alone. The details element is open when the user asked for it, and when it contains an error or a
 * value that nobody proposed: a closed one must never hide why a sign-in fails.
 */
export function moreSettings(t: Translate, page: ImapPage, password: Html | undefined): Html {
  const { values, errors, folders } = page
  return html`<details class="more" id="settings"${isOpen(page) && html` open`}>
<summary>${ICONS.chevron}${t('imap.more')}</summary>
<fieldset><legend>${t('imap.legend')}</legend>
${password}
${isHostAbove(page) ? portField(t, page) : html`<div class="row">${hostField(t, page)}${portField(t, page)}</div>`}
${textField(t, {
  name: 'username',
  label: t('username.label'),
  value: values.username,
  autocomplete: 'username',
  hint: t('username.hint'),
  required: true,
  errors,
})}
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
${
  folders === undefined &&
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
</fieldset>
${smtp(t, page)}
${caldav(t, page)}
</details>`
}

/** While no server was found, the user has to enter one: its field is above the settings. */
export function isHostAbove({ proposed, folders }: ImapPage): boolean {
  return proposed === undefined && folders === undefined
}

export function hostField(t: Translate, { values, errors, hosts, proposed, isEditing }: ImapPage): Html {
  return html`${textField(t, {
    name: 'host',
    label: t('host.label'),
    value: values.host,
    inputmode: 'url',
    placeholder: 'imap.example.com',
    required: true,
    list: 'known-hosts',
    focus: isEditing === true || (proposed === undefined && values.host === '' && firstInvalid(errors) === undefined),
    errors,
  })}<datalist id="known-hosts">${hosts.map((host) => html`<option value="${host}"></option>`)}</datalist>`
}

function portField(t: Translate, { values, errors }: ImapPage): Html {
  return textField(t, {
    name: 'port',
    label: t('port.label'),
    value: values.port,
    inputmode: 'numeric',
    placeholder: String(MAIL_PORTS.imaps),
    maxLength: 5,
    errors,
  })
}

function isOpen({ values, errors, proposed, folders, isEditing }: ImapPage): boolean {
  const names = new Set<string>(['port', 'username', 'secure', 'allowSelfSigned', ...SMTP, ...CALDAV])
  if (proposed !== undefined) names.add('host')
  if (folders === undefined) names.add('mailbox')
  const expected: Partial<ImapFormValues> = { ...DEFAULTS, username: values.email, ...proposed }
  const isChanged = Object.entries({ ...values }).some(
    ([name, value]) => names.has(name) && value !== '' && value !== (expected[name as keyof ImapFormValues] ?? ''),
  )
  const faulty = [...Object.keys(errors.fields), ...(errors.form?.fields ?? [])]
  return isEditing === true || isChanged || faulty.some((name) => names.has(name))
}

function smtp(t: Translate, page: ImapPage): Html {
  const { values, errors } = page
  return html`<fieldset><legend>${t('smtp.legend')}</legend><p class="hint">${t('smtp.hint')}</p>
<div class="row">
${textField(t, { name: 'smtpHost', label: t('smtp.host'), value: values.smtpHost, inputmode: 'url', placeholder: 'smtp.example.com', errors })}
${textField(t, { name: 'smtpPort', label: t('smtp.port'), value: values.smtpPort, inputmode: 'numeric', placeholder: String(MAIL_PORTS.submissions), maxLength: 5, errors })}
</div>
${selectField({ name: 'smtpSecure', label: t('smtp.secure'), value: values.smtpSecure, options: securityChoices(t), errors })}
${ownLogin(t, page, 'smtp')}
</fieldset>`
}

/** The username and the password at another server, which are those of the mailbox by default. */
function ownLogin(t: Translate, { values, errors, entered = [] }: ImapPage, server: 'smtp' | 'caldav'): Html {
  const username = `${server}Username` as const
  const password = `${server}Password` as const
  const isEntered = (name: EnteredField) => entered.includes(name)
  const placeholder = (name: EnteredField) => (isEntered(name) ? t('password.entered') : undefined)
  return html`${textField(t, {
    name: username,
    label: t(`${server}.username`),
    value: values[username],
    errors,
    placeholder: placeholder(username),
    hint: t(isEntered(username) ? 'username.enteredHint' : 'same.username'),
  })}
${textField(t, {
  name: password,
  label: t(`${server}.password`),
  value: '',
  type: 'password',
  maxLength: 1024,
  errors,
  placeholder: placeholder(password),
  hint: t(isEntered(password) ? 'password.enteredHint' : 'same.password'),
})}`
}

function caldav(t: Translate, page: ImapPage): Html {
  const { values, errors, grants } = page
  const suffix = grants.includes('contactsChange') ? 'WithContacts' : ''
  return html`<fieldset><legend>${t(`caldav.legend${suffix}`)}</legend><p class="hint">${t(`caldav.hint${suffix}`)}</p>
${textField(t, { name: 'caldavUrl', label: t('caldav.url'), value: values.caldavUrl, type: 'url', inputmode: 'url', placeholder: 'https://dav.example.com/', maxLength: 2000, errors })}
${ownLogin(t, page, 'caldav')}
</fieldset>`
}
