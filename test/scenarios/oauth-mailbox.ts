import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { numberedMail } from './mailboxes.ts'
import { connectAt, type OAuthStage, type SiteName } from './oauth.ts'

/** One mailbox at a provider: what it holds there, what the service says, and what was announced of it. */
export interface Tried {
  readonly accountId: string
  readonly email: string
  readonly name: SiteName
  deliver(subject: string): Promise<string>
  remove(subject: string): Promise<void>
  markRead(subject: string): Promise<void>
  /** Asks the service to look now. */
  look(): Promise<void>
  status(): Promise<{ status: string; statusReason: string | null }>
  /** Looks again and again until the account is in this state. */
  waitForStatus(status: string): Promise<string | null>
  /** Waits until the service holds what the provider holds, each of these was announced once, and nothing else. */
  inStep(announced: readonly string[]): Promise<void>
  /** Waits until these are the events that told of trouble, in order. */
  expectAccountEvents(...types: string[]): Promise<void>
  consentAgain(): Promise<void>
}

interface Event {
  type: string
  data: { subject?: string }
}

/** Connects a mailbox of three mails, and waits until it is in step. */
export async function tried(stage: OAuthStage, name: SiteName, email: string): Promise<Tried> {
  const { google, microsoft } = servers(stage)
  const { api } = stage
  const { server } = stage.sites[name]
  const ids = new Map<string, string>()
  const deliver = async (subject: string) => {
    const id = await server.deliver(email, numberedMail(subject))
    ids.set(subject, id)
    return id
  }
  server.addUser(email)
  for (const subject of old(email)) await deliver(subject)
  const accountId = await connectAt(stage, name, email)
  const path = `/accounts/${accountId}`

  const status = () => api.call<{ status: string; statusReason: string | null }>('GET', path)
  const look = async () => void (await api.call('POST', `${path}/sync`))
  const events = async () =>
    (await api.call<{ events: Event[] }>('GET', `/events?accountId=${accountId}&limit=200`)).events
  const waitForStatus = (wanted: string) =>
    eventually(
      async () => {
        const { status: is, statusReason } = await status()
        if (is === wanted) return statusReason
        await look()
        throw new Error(`${email} is ${is} (${statusReason}), not ${wanted}`)
      },
      60_000,
      150,
    )

  function held(): string[] {
    const rows =
      name === 'gmail'
        ? google.messages(email).map(({ subject, labels }) => [subject, labels.includes('UNREAD')])
        : microsoft.messages(email).map(({ subject, read }) => [subject, !read])
    return rows.map((row) => row.join()).sort()
  }

  async function inStep(announced: readonly string[]): Promise<void> {
    await eventually(
      async () => {
        const { messages } = await api.call<{ messages: { subject: string; unread: boolean }[] }>(
          'GET',
          `${path}/messages?limit=200`,
        )
        const stored = messages.map(({ subject, unread }) => `${subject},${unread}`).sort()
        const { status: is } = await status()
        if (is !== 'connected' || stored.join() !== held().join()) await look()
        expect([is, ...stored]).toEqual(['connected', ...held()])
      },
      60_000,
      150,
    )
    // The feed shows an event a moment after its transaction.
    await eventually(async () => {
      const received = (await events()).filter(({ type }) => type === 'message.received')
      expect(received.map(({ data }) => data.subject).sort()).toEqual([...announced].sort())
    })
  }

  await waitForStatus('connected')
  await inStep([])
  return {
    ...{ accountId, email, name, deliver, look, status, waitForStatus, inStep },
    async remove(subject) {
      const id = ids.get(subject) ?? ''
      await server.delete(email, id)
    },
    async markRead(subject) {
      await server.markRead(email, ids.get(subject) ?? '', true)
    },
    async expectAccountEvents(...types) {
      await eventually(async () => {
        const told = (await events()).map(({ type }) => type).reverse()
        expect(told.filter((type) => /^account\.(auth_error|sync_stalled|recovered)$/.test(type))).toEqual(types)
      })
    },
    async consentAgain() {
      expect(await connectAt(stage, name, email)).toBe(accountId)
    },
  }
}

/** What stands in every mailbox before it is connected. */
export const old = (email: string) => ['a', 'b', 'c'].map((letter) => `${letter} of ${email}`)

/** The fakes by what they are. */
export function servers({ sites }: Pick<OAuthStage, 'sites'>) {
  const [google, microsoft] = [sites.gmail.server, sites.microsoft.server]
  if (!('historyId' in google) || !('folderId' in microsoft)) throw new Error('the sites are mixed up')
  return { google, microsoft }
}
