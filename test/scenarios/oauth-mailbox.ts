import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { numberedMessage } from './mailboxes.ts'
import { connectAt, type OAuthStage, type SiteName } from './oauth.ts'

/** A connected mailbox at a fake provider, compared with the service's API and events. */
export interface TestMailbox {
  readonly accountId: string
  readonly email: string
  readonly name: SiteName
  deliver(subject: string): Promise<string>
  remove(subject: string): Promise<void>
  markRead(subject: string): Promise<void>
  /** Subjects of the messages that the API returns. */
  storedSubjects(): Promise<string[]>
  requestSync(): Promise<void>
  status(): Promise<{ status: string; statusReason: string | null }>
  /** Waits until the next run is at least this far away. */
  waitForPause(leastMs: number): Promise<void>
  /** Requests syncs until the account has this status. Returns the status reason. */
  waitForStatus(status: string): Promise<string | null>
  /** Waits until the API returns the provider's messages, and exactly these subjects have been announced. */
  expectInSync(announced: readonly string[]): Promise<void>
  /** Waits until exactly these events about the account's connection exist, in order. */
  expectAccountEvents(...types: string[]): Promise<void>
  consentAgain(): Promise<void>
}

interface Event {
  type: string
  data: { subject?: string }
}

/** Connects a mailbox with three messages and waits until it is synced. */
export async function connectTestMailbox(stage: OAuthStage, name: SiteName, email: string): Promise<TestMailbox> {
  const { google, microsoft } = fakeProviders(stage)
  const { api } = stage
  const { server } = stage.sites[name]
  const ids = new Map<string, string>()
  const deliver = async (subject: string) => {
    const id = await server.deliver(email, numberedMessage(subject))
    ids.set(subject, id)
    return id
  }
  server.addUser(email)
  for (const subject of initialSubjects(email)) await deliver(subject)
  const accountId = await connectAt(stage, name, email)
  const path = `/accounts/${accountId}`

  const status = () => api.call<{ status: string; statusReason: string | null }>('GET', path)
  const requestSync = async () => void (await api.call('POST', `${path}/sync`))
  const events = async () =>
    (await api.call<{ events: Event[] }>('GET', `/events?accountId=${accountId}&limit=200`)).events
  const waitForStatus = (wanted: string) =>
    eventually(
      async () => {
        const current = await status()
        if (current.status === wanted) return current.statusReason
        await requestSync()
        throw new Error(`${email} is ${current.status} (${current.statusReason}), not ${wanted}`)
      },
      60_000,
      150,
    )

  function remoteMessages(): string[] {
    const rows =
      name === 'gmail'
        ? google.messages(email).map(({ subject, labels }) => [subject, labels.includes('UNREAD')])
        : microsoft.messages(email).map(({ subject, read }) => [subject, !read])
    return rows.map((row) => row.join()).sort()
  }

  async function expectInSync(announced: readonly string[]): Promise<void> {
    await eventually(
      async () => {
        const { messages } = await api.call<{ messages: { subject: string; unread: boolean }[] }>(
          'GET',
          `${path}/messages?limit=200`,
        )
        const stored = messages.map(({ subject, unread }) => `${subject},${unread}`).sort()
        const { status: current } = await status()
        if (current !== 'connected' || stored.join() !== remoteMessages().join()) await requestSync()
        expect([current, ...stored]).toEqual(['connected', ...remoteMessages()])
      },
      60_000,
      150,
    )
    // An event appears in the feed shortly after its transaction.
    await eventually(async () => {
      const received = (await events()).filter(({ type }) => type === 'message.received')
      expect(received.map(({ data }) => data.subject).sort()).toEqual([...announced].sort())
    })
  }

  async function waitForPause(leastMs: number): Promise<void> {
    await eventually(async () => {
      const { nextRunAt } = await api.call<{ nextRunAt: string }>('GET', `/debounced-queue/accounts/${accountId}`)
      expect(Date.parse(nextRunAt)).toBeGreaterThan(Date.now() + leastMs)
    })
  }

  async function storedSubjects(): Promise<string[]> {
    const list = await api.call<{ messages: { subject: string }[] }>('GET', `${path}/messages?limit=200`)
    return list.messages.map(({ subject }) => subject).sort()
  }

  await waitForStatus('connected')
  await expectInSync([])
  return {
    accountId,
    email,
    name,
    deliver,
    requestSync,
    status,
    waitForStatus,
    waitForPause,
    expectInSync,
    storedSubjects,
    async remove(subject) {
      const id = ids.get(subject) ?? ''
      await server.delete(email, id)
    },
    async markRead(subject) {
      await server.markRead(email, ids.get(subject) ?? '', true)
    },
    async expectAccountEvents(...types) {
      await eventually(async () => {
        const all = (await events()).map(({ type }) => type).reverse()
        expect(all.filter((type) => /^account\.(auth_error|sync_stalled|recovered)$/.test(type))).toEqual(types)
      })
    },
    async consentAgain() {
      expect(await connectAt(stage, name, email)).toBe(accountId)
    },
  }
}

/** Subjects of the messages in every mailbox before it is connected. */
export const initialSubjects = (email: string) => ['a', 'b', 'c'].map((letter) => `${letter} of ${email}`)

/** The fake providers with their own types. */
export function fakeProviders({ sites }: Pick<OAuthStage, 'sites'>) {
  const [google, microsoft] = [sites.gmail.server, sites.microsoft.server]
  if (!('historyId' in google) || !('folderId' in microsoft))
    throw new Error('each site must run its own fake provider')
  return { google, microsoft }
}
