import { isIP } from 'node:net'
import { MAIL_PORTS } from '../../platform/formats/mail-ports.ts'
import type { MailAccess, SmtpSettings } from '../contract/index.ts'

/** Hosts of providers whose SMTP server is not named like their IMAP server. */
const KNOWN: Readonly<Record<string, string>> = {
  'outlook.office365.com': 'smtp.office365.com',
  'imap-mail.outlook.com': 'smtp-mail.outlook.com',
  'imap.gmx.net': 'mail.gmx.net',
  'imap.gmx.com': 'mail.gmx.com',
}

const TLS = { port: MAIL_PORTS.submissions, security: 'tls' } as const
const STARTTLS = { port: MAIL_PORTS.submission, security: 'starttls' } as const

/**
 * The servers to try, the most likely first: what the user entered, completed from the IMAP settings. A derived host is the IMAP host
 * itself, or the name beside it that providers use, so the password stays with the owner of that domain.
 */
export function smtpCandidates({ settings: { imap, smtp = {} } }: MailAccess): SmtpSettings[] {
  const username = smtp.username ?? imap?.username
  const hosts = smtp.host !== undefined ? [smtp.host] : hostsBeside(imap?.host)
  if (username === undefined) return []
  const plain = (smtp.security === undefined ? imap?.allowPlain : smtp.allowPlain) ?? false
  const ports =
    smtp.port !== undefined
      ? [{ port: smtp.port, security: smtp.security ?? (smtp.port === TLS.port ? TLS.security : STARTTLS.security) }]
      : [TLS, STARTTLS]
  return hosts.flatMap((host) =>
    ports.map((port) => ({
      host,
      username,
      ...port,
      ...(plain && port.security === 'starttls' && { allowPlain: true }),
    })),
  )
}

/** True when the user left nothing to derive, so there is nothing to remember. */
export function isComplete({ settings: { smtp } }: MailAccess): boolean {
  return smtp?.host !== undefined && smtp.port !== undefined
}

function hostsBeside(imapHost: string | undefined): string[] {
  if (imapHost === undefined) return []
  const server = KNOWN[imapHost]
  if (server !== undefined) return [server]
  const [label = '', ...rest] = imapHost.split('.')
  if (isIP(imapHost) !== 0 || !/imaps?/.test(label)) return [imapHost]
  return [[label.replace(/imaps?/, 'smtp'), ...rest].join('.'), imapHost]
}
