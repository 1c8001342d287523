import { systemClock } from '../../src/platform/time/clock.ts'
import type { SendingFixture } from '../../src/providers/conformance/sending.ts'
import { imapProvider } from '../../src/providers/imap/provider.ts'
import { smtpProvider } from '../../src/providers/smtp/index.ts'
import { imapAccess, openGuard, otherClient } from './imap-mailbox.ts'
import { folderPath, type ImapServer } from './imap-server.ts'
import type { SubmissionServer } from './unpacked/submission-server.ts'

const PASSWORD = 'secret'

/** How a mailbox submits its messages. */
type Submission<Controls> = Controls & { host: string; port: number; stop(): Promise<void> }
type RefusingServer = Pick<SendingFixture, 'submitted' | 'refuse' | 'heal'>

/** A mailbox whose user exists on the mail server. It sends over `submission`, and keeps its copies on the mail server. */
export function smtpSendingFixture<Controls extends RefusingServer>(
  server: ImapServer,
  user: string,
  submission: Submission<Controls>,
): Controls & Omit<SendingFixture, 'loseResponse'> {
  const imap = imapProvider({ guard: openGuard, clock: systemClock })
  const { open, closeConnections } = smtpProvider({ guard: openGuard, copies: imap.sentCopies })
  const access = imapAccess(server, user, PASSWORD)
  const smtp = { host: submission.host, port: submission.port, security: 'starttls' as const }
  return {
    ...submission,
    email: `${user}@acme.example`,
    open: () => open({ ...access, settings: { ...access.settings, smtp } }),
    copies: ({ rfcMessageId }) =>
      otherClient(server, user, PASSWORD, async (client) => {
        await client.mailboxOpen(folderPath(server, 'Sent'))
        const found = await client.search({ header: { 'message-id': rfcMessageId } })
        return found === false || found === undefined ? 0 : found.length
      }),
    async stop() {
      closeConnections()
      await imap.mail.closeConnections()
      await submission.stop()
    },
  }
}

/** A mailbox that sends over a real SMTP server, which other mailboxes of the test used before. */
export function realSendingFixture(server: ImapServer, smtp: SubmissionServer, user: string) {
  const earlier = smtp.messages().length
  return smtpSendingFixture(server, user, {
    host: smtp.host,
    port: smtp.port,
    submitted: () =>
      smtp
        .messages()
        .slice(earlier)
        .map(({ raw, to }) => ({ raw: raw.toString('latin1'), recipients: [...to] })),
    refuse: (how) => smtp.behave(() => (how === 'permanent' ? 550 : 450)),
    heal: () => smtp.behave(() => undefined),
    stop: async () => {},
  })
}
