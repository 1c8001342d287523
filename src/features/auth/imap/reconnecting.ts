import type { ImapSettings } from '../../../providers/contract/index.ts'
import type { ImapFields, LinkedMailbox } from '../../accounts/index.ts'
import { type Proposal, proposalOf } from './proposal.ts'

/** The mailbox to connect again, if it is one of a mail server. */
export function imapMailboxOf(mailboxes: readonly LinkedMailbox[]): LinkedMailbox | undefined {
  return mailboxes.find(({ provider, settings }) => provider === 'imap' && settings.imap !== undefined)
}

/** What identifies the mailbox. The page neither contains nor changes these, except that it shows address and host. */
export function fixedFields({ email, settings: { imap } }: LinkedMailbox): ImapFields {
  return { email, host: imap?.host, username: imap?.username, mailbox: imap?.mailbox }
}

/** The settings that the mailbox was connected with, as the form shows them. */
export function storedProposal({ email, settings: { imap } }: LinkedMailbox): Proposal | undefined {
  if (imap === undefined) return undefined
  const { host, port, username, security, allowSelfSigned } = imap
  const proposal = proposalOf({ host, port, username, secure: security === 'tls' }, email)
  return {
    ...proposal,
    ...(allowsPlain(imap) && { secure: 'false' }),
    allowSelfSigned: allowSelfSigned ? 'true' : '',
  }
}

/** Only an explicit choice of STARTTLS allows plain text. */
const allowsPlain = (imap: ImapSettings): boolean => imap.allowPlain === true
