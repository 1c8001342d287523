import type { MailOAuthProvider } from '../../../providers/mail-oauth/index.ts'
import type { ImapPage } from '../../../ui/hosted/index.ts'
import type { ProposedServer } from '../detection/autoconfig.ts'
import { knownServer } from '../detection/known-servers.ts'

const STARTTLS_PORT = 143

/** A server as the form shows it. */
export type Proposal = NonNullable<ImapPage['proposed']>

export function toProposal({ host, port, secure, username }: ProposedServer, email: string): Proposal {
  // The encryption field stays on "Automatic" unless that would choose wrongly.
  const isAutomatic = secure === (port !== STARTTLS_PORT)
  return { host, port: String(port), secure: isAutomatic ? '' : String(secure), username: username ?? email }
}

export function proposalOfTable(email: string): Proposal | undefined {
  const { host, port } = knownServer(email) ?? {}
  return host === undefined || port === undefined ? undefined : toProposal({ host, port, secure: true }, email)
}

/** The mail server that the operator listed for a sign-in by OAuth. */
export function serverOfSignIn({ imap }: MailOAuthProvider): ProposedServer {
  return { host: imap.host, port: imap.port, secure: imap.security === 'tls' }
}

/** Undefined unless it is a proposal for this address. */
export function parseProposal(json: unknown, address: string): Proposal | undefined {
  const members = parseObject(json)
  const [email, host, port, secure, username] = ['email', 'host', 'port', 'secure', 'username'].map(
    (name) => members[name],
  )
  if (typeof host !== 'string' || typeof port !== 'string' || typeof secure !== 'string') return undefined
  return email === address && typeof username === 'string' ? { host, port, secure, username } : undefined
}

function parseObject(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json !== 'string') return {}
  try {
    return { ...JSON.parse(json) }
  } catch {
    // Only a changed page sends anything else.
    return {}
  }
}
