import type { Features } from '../../src/app/features.ts'
import type { Config } from '../../src/config/index.ts'
import type { Db } from '../../src/platform/db/index.ts'
import { imapLink } from '../kit/accounts/accounts.ts'
import type { Dovecot } from '../servers/dovecot.ts'
import { GOOGLE_SCOPES, startGoogle } from '../servers/google.ts'
import { otherClient } from '../servers/imap-mailbox.ts'
import { MICROSOFT_SCOPES, startMicrosoft } from '../servers/microsoft.ts'
import { startSmtpSink } from '../servers/smtp.ts'

/** A mailbox that sends, and what its server knows of it. All lists are of subjects. */
export interface SendingMailbox {
  link(db: Db, features: Features): Promise<string>
  /** To whom the scenario sends each message. */
  recipients: readonly string[]
  /** Messages that were accepted for delivery to this recipient. */
  received(recipient: string): string[]
  sent(): Promise<string[]>
  drafts(): string[]
}

const PASSWORD = 'one'
const HOUR_MS = 3_600_000

export type SendingServers = Awaited<ReturnType<typeof startSendingServers>>

export const BOB = 'bob@example.com'
/** A recipient that the SMTP server refuses for now, sometimes. */
export const LATE = 'late@example.com'

/**
 * A mailbox of each kind. `beforeReply` is awaited between a message and the reply: a kill then leaves the outcome unknown. `isDeferred`
 * says whether the SMTP server refuses a recipient for now.
 */
export async function startSendingServers(
  dovecot: Dovecot,
  user: string,
  beforeReply: () => Promise<void>,
  isDeferred: (recipient: string) => boolean = () => false,
) {
  const [smtp, google, graph] = await Promise.all([startSmtpSink(), startGoogle(), startMicrosoft()])
  smtp.behave({
    message: () => beforeReply().then(() => undefined),
    recipient: (email) => (isDeferred(email) ? 451 : undefined),
  })
  google.onSent = beforeReply
  graph.onSent = beforeReply
  graph.latencyMs = 5
  await dovecot.addUser(user, PASSWORD)
  const email = `${user}@example.test`
  google.addUser(email)
  graph.addUser(email)

  const withTokens = (provider: 'gmail' | 'microsoft', server: typeof google | typeof graph, scopes: string[]) =>
    async function link(db: Db, { accounts }: Features): Promise<string> {
      const tokens = { ...(await server.grant(email, scopes)), expiresAt: Date.now() + HOUR_MS, scopes }
      const person = { provider, email, customUserId: null, providerUser: `${provider}-${user}` }
      const link = { ...person, settings: {}, secrets: {}, tokens }
      return (await db.transaction((tx) => accounts.link(tx, link))).id
    }
  const subjectOf = (raw: string) => /^Subject: (\S+)/im.exec(raw)?.[1] ?? ''
  const inFolder = (name: string) => {
    const messages = graph.messages(email).filter(({ folderId }) => folderId === graph.folderId(email, name))
    return messages.map(({ subject }) => subject)
  }

  const mailboxes: SendingMailbox[] = [
    {
      async link(db, { accounts }) {
        const { host, imapsPort: port } = dovecot
        const imap = { host, port, username: user, security: 'tls', allowSelfSigned: true, mailbox: 'INBOX' } as const
        const settings = { imap, smtp: { host: smtp.host, port: smtp.port, security: 'starttls' } } as const
        const account = { email: `${user}@acme.example`, providerUser: user, secrets: { password: PASSWORD }, settings }
        return (await db.transaction((tx) => accounts.link(tx, imapLink(account)))).id
      },
      recipients: [BOB, LATE],
      received: (recipient) =>
        smtp.messages.filter(({ to }) => to.includes(recipient)).map(({ raw }) => subjectOf(raw.toString())),
      sent: () =>
        otherClient(dovecot, user, PASSWORD, async (client) => {
          await client.mailboxOpen('Sent')
          return (await client.fetchAll('1:*', { envelope: true })).map(({ envelope }) => envelope?.subject ?? '')
        }),
      drafts: () => [],
    },
    {
      link: withTokens('gmail', google, GOOGLE_SCOPES),
      recipients: [BOB],
      received: () => google.sent.map(({ raw }) => subjectOf(raw)),
      sent: async () =>
        google
          .messages(email)
          .filter(({ labels }) => labels.includes('SENT'))
          .map(({ subject }) => subject),
      drafts: () => [],
    },
    {
      link: withTokens('microsoft', graph, MICROSOFT_SCOPES),
      recipients: [BOB],
      received: () => graph.sent.map(({ raw }) => subjectOf(raw)),
      sent: async () => inFolder('sentitems'),
      drafts: () => inFolder('drafts'),
    },
  ]
  const settings: Partial<Config> = {
    googleClientId: google.client.id,
    googleClientSecret: google.client.secret,
    googleApiUrl: google.url,
    googlePeopleUrl: google.url,
    microsoftClientId: graph.client.id,
    microsoftClientSecret: graph.client.secret,
    microsoftGraphUrl: graph.url,
  }
  return {
    mailboxes,
    settings,
    async close(): Promise<void> {
      await Promise.all([smtp.close(), google.close(), graph.close()])
    },
  }
}
