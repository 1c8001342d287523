import { startGoogle } from '../../test/servers/google.ts'
import { startMicrosoft } from '../../test/servers/microsoft.ts'
import { demoMail, type MailText, SEEDED_MAILS } from './messages.ts'

/** A provider of mail with a consent page of its own, on this machine: no project, no client and no account anywhere is needed. */
export interface DemoSite {
  /** As people know it. */
  title: string
  url: string
  user: string
  /** What points the service at it, as environment. */
  settings: Record<string, string>
  /** Where it may send people back to. */
  allowRedirect(uri: string): void
  /** Puts a mail into the inbox, as if it had just arrived. */
  deliver(mail: MailText): Promise<void>
  close(): Promise<void>
}

export type SiteName = 'gmail' | 'microsoft'

const SITES = {
  gmail: { title: 'Google', user: 'ada@gmail.com', start: startGoogle },
  microsoft: { title: 'Microsoft', user: 'ada@outlook.com', start: startMicrosoft },
}

/** The stand-in that the tests use, with one user and a seeded mailbox. */
export async function startDemoSite(name: SiteName): Promise<DemoSite> {
  const { title, user, start } = SITES[name]
  const server = await start()
  server.addUser(user)
  for (const mail of SEEDED_MAILS) await server.deliver(user, demoMail(mail), { date: mail.sentAt })
  return {
    ...{ title, url: server.url, user, settings: server.settings },
    allowRedirect: (uri) => server.allowRedirect(uri),
    deliver: async (mail) => void (await server.deliver(user, demoMail(mail), { date: mail.sentAt })),
    close: () => server.close(),
  }
}
