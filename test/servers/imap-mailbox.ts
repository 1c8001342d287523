import { ImapFlow } from 'imapflow'
import type { AddressGuard } from '../../src/platform/net/index.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import type { MailboxFixture } from '../../src/providers/conformance/folder-mailbox.ts'
import type { FolderMailProvider, MailAccess, RemoteMessage } from '../../src/providers/contract/index.ts'
import type { ImapLimits } from '../../src/providers/imap/limits.ts'
import { imapProvider } from '../../src/providers/imap/provider.ts'
import { folderPath, type ImapServer } from './imap-server.ts'

/** Allows every host, as the real guard does for hosts that the operator allowed. */
export const openGuard: AddressGuard = {
  check: async (target) => ({ ...target, address: target.host, family: 4 }),
  allowsPlain: () => true,
}

export function imapAccess(server: ImapServer, user: string, password: string, mailbox = 'INBOX'): MailAccess {
  return {
    accountId: `acc_${user}`,
    email: `${user}@example.test`,
    settings: {
      imap: {
        host: server.host,
        port: server.imapsPort,
        security: 'tls',
        username: user,
        allowSelfSigned: true,
        mailbox,
      },
    },
    secrets: { password },
  }
}

/** Logs a second client of the same user in. */
export async function openClient(server: ImapServer, user: string, password: string): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: server.host,
    port: server.imapPort,
    secure: false,
    doSTARTTLS: false,
    logger: false,
    auth: { user, pass: password },
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Runs `work` with a second client of the same user. */
export async function otherClient<T>(
  server: ImapServer,
  user: string,
  password: string,
  work: (client: ImapFlow) => Promise<T>,
): Promise<T> {
  const client = await openClient(server, user, password)
  try {
    return await work(client)
  } finally {
    client.close()
  }
}

let users = 0

/** A new user on a real server, as a fixture for the conformance suite. */
export async function imapMailbox(
  server: ImapServer,
  limits: Partial<ImapLimits> = {},
  mail: FolderMailProvider = imapProvider({ guard: openGuard, clock: systemClock, limits }).mail,
): Promise<MailboxFixture & { user: string }> {
  users += 1
  const user = `user${users}`
  await server.addUser(user, 'secret')
  const onMessage = (message: RemoteMessage, work: (client: ImapFlow, uid: string) => Promise<unknown>) =>
    otherClient(server, user, 'secret', async (client) => {
      await client.mailboxOpen('INBOX')
      await work(client, String(message.location?.uid))
    })
  const setFlag = (flag: string) => (message: RemoteMessage, on: boolean) =>
    onMessage(message, (client, uid) =>
      on ? client.messageFlagsAdd(uid, [flag], { uid: true }) : client.messageFlagsRemove(uid, [flag], { uid: true }),
    )
  return {
    user,
    mail,
    access: imapAccess(server, user, 'secret'),
    deliver: (raw) => server.deliver(user, raw),
    setRead: setFlag('\\Seen'),
    setStarred: setFlag('\\Flagged'),
    remove: (message) => onMessage(message, (client, uid) => client.messageDelete(uid, { uid: true })),
    createFolder: (...levels) =>
      otherClient(server, user, 'secret', async (client) => {
        const path = folderPath(server, ...levels)
        await client.mailboxCreate(path)
        return path
      }),
    async revoke() {
      await server.setPassword(user, 'another')
      await server.endSessions(user)
    },
    stop: async () => {},
  }
}
