import { ImapFlow } from 'imapflow'

export interface Deliver {
  /** Path on the server, default INBOX. Created when missing. */
  folder?: string
  /** INTERNALDATE, default now. */
  date?: Date
  flags?: string[]
}

/** A real IMAP server with its own folder, ports and users. Stops with `stop()` or with this process. */
export interface ImapServer {
  readonly host: string
  readonly imapPort: number
  readonly imapsPort: number
  /** Prefix of every folder but INBOX, such as `INBOX.`, and the separator of levels. */
  readonly namespace: { prefix: string; separator: '/' | '.' }
  /** CONDSTORE. Without it, flags that another client sets in a folder that is not watched show after 15 minutes at most. */
  readonly hasModSequences: boolean
  addUser(name: string, password: string): Promise<void>
  /** Open sessions stay open. */
  setPassword(name: string, password: string): Promise<void>
  deliver(user: string, message: string | Buffer, options?: Deliver): Promise<void>
  /** Ends the open sessions of a user, who may have none. */
  endSessions(user: string): Promise<void>
  stop(): Promise<void>
}

/** The path of a folder from its levels: `INBOX.Work.2026`. */
export function folderPath({ namespace: { prefix, separator } }: ImapServer, ...levels: string[]): string {
  return prefix + levels.join(separator)
}

/** Saves a message with a folder, date or flags that a delivery could not give it. */
export async function appendMessage(
  server: { host: string; imapPort: number },
  login: { user: string; pass: string },
  message: Buffer,
  { folder = 'INBOX', date, flags }: Deliver,
): Promise<void> {
  const client = new ImapFlow({
    host: server.host,
    port: server.imapPort,
    secure: false,
    doSTARTTLS: false,
    auth: login,
    logger: false,
  })
  await client.connect()
  try {
    if (folder !== 'INBOX') await client.mailboxCreate(folder)
    await client.append(folder, message, flags ?? [], date)
  } finally {
    await client.logout()
  }
}
