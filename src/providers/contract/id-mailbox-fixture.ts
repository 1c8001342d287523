import { afterEach, beforeEach, expect } from 'vitest'
import type { MailboxMirror } from '../../../test/kit/mailbox-mirror.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import type { IdMailProvider, MailAccess } from './index.ts'

/** A mailbox of ids at a provider, and the hands of its owner. A fresh and empty one per test; every method acts at once. */
export interface IdMailboxFixture {
  mail: IdMailProvider
  /** Its `accessToken` renews a token that is refused, until `revoke`. */
  access: MailAccess
  /** Paths of folders (or labels) that every mailbox has. */
  inbox: string
  trash: string
  /** Into the inbox, unread. Answers the provider's id. */
  deliver(raw: Buffer): Promise<string>
  setRead(id: string, read: boolean): Promise<void>
  setStarred(id: string, starred: boolean): Promise<void>
  /** Into this folder and out of every other. Its id stays. */
  move(id: string, folderPath: string): Promise<void>
  /** For good. */
  remove(id: string): Promise<void>
  /** Answers its path. */
  createFolder(name: string): Promise<string>
  /** What the provider holds now. */
  contents(): Promise<{ id: string; unread: boolean; starred: boolean; folders: string[] }[]>
  /** Every cursor given out so far is too old. */
  expireCursors(): Promise<void>
  /** So many requests for mails (not for tokens) fail this way from now on. */
  fail(
    how: 'rate_limited' | 'unavailable' | 'malformed' | 'reset',
    options?: { times?: number; retryAfterS?: number },
  ): void
  /** Failures that were asked for and have not happened are called off. */
  heal(): void
  /** Access tokens given out so far are refused; new ones work. */
  expireTokens(): void
  /** The owner took the consent back. */
  revoke(): Promise<void>
  stop(): Promise<void>
}

export type MailboxSuite = ReturnType<typeof mailboxSuite>

/** A fixture for each test of the suite it is called in, and what tests say again and again. */
export function mailboxSuite(open: () => Promise<IdMailboxFixture>) {
  let box: IdMailboxFixture
  const renew = async () => {
    box = await open()
  }
  beforeEach(renew)
  afterEach(async () => {
    await box.mail.closeConnections()
    await box.stop()
  })
  const { signal } = new AbortController()
  const session = () => box.mail.openSession(box.access)

  async function deliverAll(from: number, to: number): Promise<string[]> {
    const ids: string[] = []
    for (let i = from; i <= to; i += 1) ids.push(await box.deliver(plainMail({ subject: `mail ${i}` })))
    return ids
  }

  /** Mirror and provider hold the same, mail for mail. */
  async function expectEqual(mirror: MailboxMirror) {
    const here = [...mirror.rows.values()].map(({ message, folders }) => ({
      ...{ id: message.providerMessageId, unread: message.unread, starred: message.starred },
      folders: [...folders].sort(),
    }))
    const there = (await box.contents()).map((mail) => ({ ...mail, folders: [...mail.folders].sort() }))
    const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)
    expect(here.sort(byId)).toEqual(there.sort(byId))
  }

  const announced = (mirror: MailboxMirror) =>
    mirror
      .subjects()
      .filter((subject) => mirror.bySubject(subject).announced)
      .sort()

  return {
    get box() {
      return box
    },
    /** Another fixture; the one before is the caller's to stop. */
    renew,
    session,
    deliverAll,
    expectEqual,
    announced,
    signal,
  }
}
