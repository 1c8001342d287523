import { type Html, html } from '../../platform/formats/html.ts'
import { errorSummary, type FormErrors, firstInvalid, hidden, selectField, textField } from './fields.ts'
import { type Grant, grantList } from './grants.ts'
import { type Guide, guideList } from './guide.ts'
import { ICONS } from './icons.ts'
import { editButton, editForm, identity } from './identity.ts'
import { hostField, isHostAbove, moreSettings } from './imap-settings.ts'
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

/** A field that may be empty on the page although the service has its value. */
export type EnteredField = 'password' | `${'smtp' | 'caldav'}${'Username' | 'Password'}`

export type ImapFormValues = Readonly<Record<(typeof IMAP_FORM_FIELDS)[number], string>>

export interface ImapPage {
  /** URL that the form posts to. */
  action: string
  /** URL of the first step, to which the user returns for another address or server. */
  editAction: string
  session: string
  state: string
  values: ImapFormValues
  /** The server that was found. The page then asks for the password only. Undefined: the user enters the server. */
  proposed?: (Pick<ImapFormValues, 'host' | 'port' | 'username' | 'secure'> & Partial<ImapFormValues>) | undefined
  /** `proposed` as a form field, for the next page. */
  proposedField?: string | undefined
  /** The user wants to change the settings. */
  isEditing?: boolean | undefined
  /** The mailbox is connected already: `proposed` is what it was connected with. */
  isReconnect?: boolean | undefined
  errors: FormErrors
  /** Name of the mail provider, if known. */
  provider?: string | undefined
  grants: readonly Grant[]
  /** Requirements of this provider for its users, such as an app password. */
  note?: string | undefined
  /** How users do what the note says. Open after a rejected password. */
  guide?: Guide | undefined
  /** The provider accepts no other password. */
  isAppPassword?: boolean | undefined
  /** Folders to choose from, after a successful sign-in. */
  folders?: readonly { path: string; label: string }[] | undefined
  /** Replaces the passwords typed in the previous step. Valid only for the same servers and users. */
  passwordToken?: string | undefined
  /** The service has their values, and uses them when the user leaves the fields empty. */
  entered?: readonly EnteredField[] | undefined
  /** Hosts that the server field suggests. */
  hosts: readonly string[]
}

/** The second step for IMAP: sign in to the mail server. Every button works without JavaScript. */
export function imapPage(context: PageContext, page: ImapPage): string {
  const { values, errors, proposed, folders } = page
  const { t } = context
  const { title, lead } = headings(t, page)
  return document(context, {
    title: firstInvalid(errors) === undefined ? title : t('page.error', { title }),
    body: html`<h1>${title}</h1>
${lead !== undefined && html`<p class="lead">${lead}</p>`}
${errorSummary(t, errors)}
${errors.fields.email === undefined && identity(t, { email: values.email, provider: page.provider, host: proposed && values.host })}
${folders === undefined && grantList(context, page.grants)}
<form method="post" action="${page.action}" novalidate>
${hidden('session', page.session)}${hidden('state', page.state)}${
  page.proposedField !== undefined && hidden('proposed', page.proposedField)
}${page.passwordToken !== undefined && hidden('passwordToken', page.passwordToken)}
${errors.fields.email === undefined ? hidden('email', values.email) : emailField(t, page)}
${
  folders === undefined
    ? html`${requirement(t, page)}${isHostAbove(page) && hostField(t, page)}${passwordField(t, page)}`
    : folderSelect(t, page, folders)
}
${moreSettings(t, page, folders && passwordField(t, page))}
<button class="button primary" type="submit" data-busy="${t('imap.connecting')}">${t('imap.connect')}</button>
${
  page.isReconnect !== true &&
  html`<button class="button secondary${folders === undefined && ' later'}" type="submit" name="intent" value="folders" data-busy="${t('imap.loadingFolders')}">${t(folders === undefined ? 'imap.chooseFolder' : 'imap.reloadFolders')}</button>`
}
<p class="status" role="status"></p>
</form>
<div class="ways">${page.isReconnect !== true && editButton('address', html`${ICONS.back}${t('imap.back')}`)}${cancelLink(context)}</div>
${editForm(page, values.email)}`,
    footnote: html`<p>${ICONS.lock}${t('imap.promise')}</p>`,
  })
}

function headings(
  t: Translate,
  { folders, proposed, isReconnect, values }: ImapPage,
): { title: string; lead?: string } {
  if (folders !== undefined) return { title: t('folders.title'), lead: t('folders.lead') }
  if (isReconnect) return { title: t('reconnect.title'), lead: t('reconnect.text') }
  // A server that the user has entered was not searched for.
  const isServerMissing = proposed === undefined && values.host === ''
  return { title: t('imap.title'), ...(isServerMissing && { lead: t('imap.lead') }) }
}

/** Only for an address that is not valid; the first step lets no such address through. */
function emailField(t: Translate, { values, errors }: ImapPage): Html {
  const shared = { name: 'email', label: t('email.label'), value: values.email, errors }
  return textField(t, { ...shared, type: 'email', inputmode: 'email', autocomplete: 'email', required: true })
}

function requirement(t: Translate, { note, guide, errors }: ImapPage): Html {
  return html`${note !== undefined && html`<p class="note">${note}</p>`}${
    guide !== undefined && guideList(t, guide, errors.form?.code === 'imap_auth_failed')
  }`
}

function passwordField(t: Translate, page: ImapPage): Html {
  const isEntered = page.entered?.includes('password') === true
  const hasServer = page.proposed !== undefined || page.values.host !== ''
  return textField(t, {
    name: 'password',
    label: t(page.isAppPassword ? 'password.appLabel' : 'password.label'),
    value: '',
    type: 'password',
    autocomplete: 'current-password',
    placeholder: isEntered ? t('password.entered') : undefined,
    hint: isEntered ? t('password.enteredHint') : undefined,
    required: !isEntered,
    focus: hasServer && firstInvalid(page.errors) === undefined && !isEntered && page.isEditing !== true,
    maxLength: 1024,
    errors: page.errors,
  })
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
