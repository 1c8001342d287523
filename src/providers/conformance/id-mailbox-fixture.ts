import { afterEach, beforeEach, expect } from 'vitest'
import type { MailboxMirror } from '../../../test/kit/mailbox/mailbox-mirror.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import type { IdMailProvider, MailAccess } from '../contract/index.ts'

/** An empty mailbox at a provider for one test, and what its user does with other mail programs. Every method takes effect at once. */
export interface IdMailboxFixture {
  mail: IdMailProvider
  /** Its `accessToken` renews a refused token, until `revoke`. */
  access: MailAccess
  /** Paths of folders (or labels) that every mailbox has. */
  inbox: string
  trash: string
  /** Delivers to the inbox, unread. Returns the provider's id. */
  deliver(raw: Buffer): Promise<string>
  setRead(id: string, read: boolean): Promise<void>
  setStarred(id: string, starred: boolean): Promise<void>
  /** Moves to this folder, out of every other. The id stays. */
  move(id: string, folderPath: string): Promise<void>
  /** Deletes permanently. */
  remove(id: string): Promise<void>
  /** Returns its path. */
  createFolder(name: string): Promise<string>
  /** All messages at the provider. */
  contents(): Promise<{ id: string; unread: boolean; starred: boolean; folders: string[] }[]>
  /** Makes every earlier cursor too old. */
  expireCursors(): Promise<void>
  /** Makes the next requests fail, except those for tokens. */
  fail(
    how: 'rate_limited' | 'unavailable' | 'malformed' | 'reset',
    options?: { times?: number; retryAfterS?: number },
  ): void
  /** Cancels the remaining failures. */
  heal(): void
  /** Makes the provider refuse earlier access tokens. */
  expireTokens(): void
  /** Withdraws the user's consent. */
  revoke(): Promise<void>
  stop(): Promise<void>
}

export type MailboxSuite = ReturnType<typeof mailboxSuite>

/** Opens a fixture for each test of the calling suite, and provides their common steps. */
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

  /** The mirror has exactly the messages of the provider. */
  async function expectEqual(mirror: MailboxMirror) {
    const stored = [...mirror.rows.values()].map(({ message, folders }) => ({
      id: message.providerMessageId,
      unread: message.unread,
      starred: message.starred,
      folders: [...folders].sort(),
    }))
    const actual = (await box.contents()).map((mail) => ({ ...mail, folders: [...mail.folders].sort() }))
    const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)
    expect(stored.sort(byId)).toEqual(actual.sort(byId))
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
    /** Opens another fixture; the caller stops the previous one. */
    renew,
    session,
    deliverAll,
    expectEqual,
    announced,
    signal,
  }
}
