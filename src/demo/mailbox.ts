import type { DemoMailServer } from './mail-server.ts'
import type { MessageText } from './messages.ts'

/** A mailbox on a server that the demo runs on this machine. */
export interface DemoMailbox {
  provider: 'imap' | 'gmail' | 'microsoft'
  /** Names the kind of server, as in "a mail server" or "an emulator of Google". */
  host: string
  /** Where it runs. */
  address: string
  user: string
  /** Environment variables that make the service use the server. */
  settings: Record<string, string>
  /** The fields of the hosted form. Undefined when users sign in on the provider's own page. */
  signIn: Record<string, string> | undefined
  /** Registers a redirect URI, as an operator does once at the provider. */
  allowRedirect(uri: string): void
  /** Delivers a message to the inbox. */
  deliver(message: MessageText): Promise<void>
  close(): Promise<void>
}

/** The account of a mail server. Its certificate is self-signed. */
export function imapMailbox(server: DemoMailServer): DemoMailbox {
  const { host, port, user, password } = server
  return {
    provider: 'imap',
    host: 'a mail server',
    address: `imaps://${host}:${port}`,
    user,
    settings: {},
    signIn: {
      email: user,
      username: user,
      password,
      host,
      port: String(port),
      allowSelfSigned: 'true',
    },
    allowRedirect: () => {},
    deliver: server.deliver,
    close: server.close,
  }
}
