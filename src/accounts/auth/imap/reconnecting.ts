import { MAIL_PORTS } from '../../../platform/formats/mail-ports.ts'
import type { CaldavSettings, ImapSettings, MailSecrets, SmtpSettings } from '../../../providers/contract/index.ts'
import type { EnteredField } from '../../../ui/hosted/index.ts'
import type { ImapFields, LinkedMailbox } from '../../index.ts'
import { fieldText } from './password-token.ts'
import { type Proposal, toProposal } from './proposal.ts'

/** The mailbox to connect again, if it is one of a mail server. */
export function findImapMailbox(mailboxes: readonly LinkedMailbox[]): LinkedMailbox | undefined {
  return mailboxes.find(({ provider, settings }) => provider === 'imap' && settings.imap !== undefined)
}

/** The settings that the mailbox was connected with, which the form shows first. What the user then sends counts. */
export function storedProposal({ email, settings: { imap, smtp, caldav } }: LinkedMailbox): Proposal | undefined {
  if (imap === undefined) return undefined
  const { host, port, username, security, allowSelfSigned, mailbox } = imap
  const proposal = toProposal({ host, port, username, secure: security === 'tls' }, email)
  return {
    ...proposal,
    mailbox,
    ...(allowsPlain(imap) && { secure: 'false' }),
    allowSelfSigned: allowSelfSigned ? 'true' : '',
    ...smtpFields(smtp),
    ...caldavFields(caldav),
  }
}

const SERVERS = ['smtp', 'caldav'] as const

/** The fields that `withStoredLogins` would fill in. */
export function storedLogins(mailbox: LinkedMailbox, fields: ImapFields): EnteredField[] {
  const { settings, ownPasswords } = mailbox
  return SERVERS.filter((server) => isSame(server, mailbox, fields)).flatMap((server) => [
    ...(settings[server]?.username === undefined ? [] : [`${server}Username` as const]),
    ...(ownPasswords[server] ? [`${server}Password` as const] : []),
  ])
}

/** Fills in what the page does not show and the user left empty: the usernames and the passwords at servers that are the same as before. */
export function withStoredLogins(fields: ImapFields, mailbox: LinkedMailbox, secrets: MailSecrets): ImapFields {
  const stored = SERVERS.filter((server) => isSame(server, mailbox, fields)).flatMap((server) => [
    [`${server}Username`, mailbox.settings[server]?.username],
    [`${server}Password`, secrets[`${server}Password`]],
  ])
  const entered = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries([...stored, ...entered])
}

/** A stored password goes only where it went before, for the same user, and only over a connection that is as secure. */
function isSame(server: (typeof SERVERS)[number], { email, settings }: LinkedMailbox, fields: ImapFields): boolean {
  const { imap, smtp, caldav } = settings
  // Servers that nobody entered are found by these.
  const login = { email, host: imap?.host, username: imap?.username }
  if (!Object.entries(login).every(([name, value]) => readField(fields, name) === value)) return false
  if (server === 'smtp') {
    if (imap?.allowSelfSigned !== true && fieldText(fields.allowSelfSigned) !== '') return false
    // Without a choice of its own, sending is encrypted as reading is.
    const mayBePlain = !['', 'true'].includes(fieldText(fields.secure).trim())
    if (smtp?.security === undefined && imap?.allowPlain !== true && mayBePlain) return false
  }
  const stored = Object.entries(server === 'smtp' ? smtpFields(smtp) : caldavFields(caldav))
  return stored.every(([name, value]) => readField(fields, name) === value)
}

function readField(fields: Readonly<Record<string, unknown>>, name: string): string {
  return fieldText(fields[name]).trim()
}

function smtpFields({ host = '', port, security, allowPlain }: Partial<SmtpSettings> = {}) {
  const isAutomatic = security === undefined || (security === 'tls') === (port === MAIL_PORTS.submissions)
  const secure = isAutomatic ? '' : String(security === 'tls')
  return { smtpHost: host, smtpPort: port?.toString() ?? '', smtpSecure: allowPlain === true ? 'false' : secure }
}

const caldavFields = ({ url = '' }: Partial<CaldavSettings> = {}) => ({ caldavUrl: url })

/** Only an explicit choice of STARTTLS allows plain text. */
const allowsPlain = (imap: ImapSettings): boolean => imap.allowPlain === true
