import type { ImapSettings, MailSecrets, SmtpSettings } from '../../../providers/contract/index.ts'
import type { EnteredField } from '../../../ui/hosted/index.ts'
import type { ImapFields, LinkedMailbox } from '../../accounts/index.ts'
import { fieldText } from './password-token.ts'
import { type Proposal, proposalOf } from './proposal.ts'

/** The mailbox to connect again, if it is one of a mail server. */
export function imapMailboxOf(mailboxes: readonly LinkedMailbox[]): LinkedMailbox | undefined {
  return mailboxes.find(({ provider, settings }) => provider === 'imap' && settings.imap !== undefined)
}

/** What identifies the mailbox, and its calendar, which the page does not ask for. The page changes none of these, and shows only address and host. */
export function fixedFields({ email, settings: { imap, caldav } }: LinkedMailbox): ImapFields {
  return {
    ...{ email, host: imap?.host, username: imap?.username, mailbox: imap?.mailbox },
    ...{ caldavUrl: caldav?.url, caldavUsername: caldav?.username },
  }
}

/** The settings that the mailbox was connected with, as the form shows them. */
export function storedProposal({ email, settings: { imap, smtp } }: LinkedMailbox): Proposal | undefined {
  if (imap === undefined) return undefined
  const { host, port, username, security, allowSelfSigned } = imap
  const proposal = proposalOf({ host, port, username, secure: security === 'tls' }, email)
  return {
    ...proposal,
    ...(allowsPlain(imap) && { secure: 'false' }),
    allowSelfSigned: allowSelfSigned ? 'true' : '',
    ...smtpFields(smtp),
  }
}

/** The fields that `withStoredLogins` would fill in. */
export function storedLogins(mailbox: LinkedMailbox, fields: ImapFields): EnteredField[] {
  if (!isSameSmtp(mailbox, fields)) return []
  const { ownPasswords, settings } = mailbox
  return [
    ...(settings.smtp?.username === undefined ? [] : (['smtpUsername'] as const)),
    ...(ownPasswords.smtp ? (['smtpPassword'] as const) : []),
  ]
}

/** Fills in what the page does not show and the user left empty: the username and the password of the SMTP server, unless it is another one now. */
export function withStoredLogins(
  fields: ImapFields,
  mailbox: LinkedMailbox,
  { smtpPassword, caldavPassword }: MailSecrets,
): ImapFields {
  const smtp = isSameSmtp(mailbox, fields) && { smtpUsername: mailbox.settings.smtp?.username, smtpPassword }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  return { ...smtp, caldavPassword, ...Object.fromEntries(given) }
}

/** A stored password goes only where it went before, and only over a connection that is as secure. */
function isSameSmtp({ settings: { imap, smtp } }: LinkedMailbox, fields: ImapFields): boolean {
  if (imap?.allowSelfSigned !== true && fieldText(fields.allowSelfSigned) !== '') return false
  const { smtpHost, smtpPort, smtpSecure } = smtpFields(smtp)
  const isSame = (given: unknown, stored: string) => fieldText(given).trim() === stored
  return isSame(fields.smtpHost, smtpHost) && isSame(fields.smtpPort, smtpPort) && isSame(fields.smtpSecure, smtpSecure)
}

const SUBMISSIONS_PORT = 465

function smtpFields({ host = '', port, security, allowPlain }: Partial<SmtpSettings> = {}) {
  const isAutomatic = security === undefined || (security === 'tls') === (port === SUBMISSIONS_PORT)
  const secure = isAutomatic ? '' : String(security === 'tls')
  return { smtpHost: host, smtpPort: port?.toString() ?? '', smtpSecure: allowPlain === true ? 'false' : secure }
}

/** Only an explicit choice of STARTTLS allows plain text. */
const allowsPlain = (imap: ImapSettings): boolean => imap.allowPlain === true
