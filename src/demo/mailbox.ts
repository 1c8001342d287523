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
  /** The values that a person may have to enter on the hosted form. Undefined when users sign in on the provider's own page. */
  signIn: ({ password: string } & Record<string, string>) | undefined
  /** The server that detection finds for the domain of the address. */
  server?: { host: string; port: number; secure: boolean }
  /** Registers a redirect URI, as an operator does once at the provider. */
  allowRedirect(uri: string): void
  /** Delivers a message to the inbox. */
  deliver(message: MessageText): Promise<void>
  close(): Promise<void>
}

/** The account of a mail server: without encryption in the demo, which stays on this machine, else with a self-signed certificate. */
export function imapMailbox(server: DemoMailServer): DemoMailbox {
  const { host, port, user, password, isPlain = false } = server
  return {
    provider: 'imap',
    host: 'a mail server',
    address: `${isPlain ? 'imap' : 'imaps'}://${host}:${port}`,
    user,
    settings: {},
    signIn: {
      email: user,
      username: user,
      password,
      host,
      port: String(port),
      ...(isPlain ? { secure: 'false' } : { allowSelfSigned: 'true' }),
    },
    server: { host, port, secure: !isPlain },
    allowRedirect: () => {},
    deliver: server.deliver,
    close: server.close,
  }
}
