import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import type { Dovecot } from '../servers/dovecot.ts'
import type { Application } from './application.ts'
import type { Client } from './client.ts'

export const PASSWORD = 'correct horse battery staple'

export function userNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `user${index}@mail.example`)
}

/** Registers the application's endpoint. Its retries outlast any restart of the service. */
export async function subscribe(api: Client, application: Application, eventTypes: string[]): Promise<string> {
  const endpoint = await api.call<{ id: string; secret: string }>('POST', '/webhooks/endpoints', {
    url: application.url,
    eventTypes,
    retryCount: 20,
    retryDelayMs: 500,
  })
  application.trust(endpoint.secret)
  return endpoint.id
}

/** Connects Dovecot users by password and waits until all are synced. Returns account ids by user. `smtp`: where they send. `more`: further fields of a user's account. */
export async function connectMailboxes(
  api: Client,
  dovecot: Pick<Dovecot, 'host' | 'imapsPort'>,
  users: readonly string[],
  smtp?: { host: string; port: number },
  more?: (user: string) => object,
): Promise<Map<string, string>> {
  const accounts = await createAccounts(api, dovecot, users, smtp, more)
  await allConnected(api, accounts.size)
  return accounts
}

/** The same without waiting. */
export async function createAccounts(
  api: Client,
  dovecot: Pick<Dovecot, 'host' | 'imapsPort'>,
  users: readonly string[],
  smtp?: { host: string; port: number },
  more: (user: string) => object = () => ({}),
): Promise<Map<string, string>> {
  const accounts = new Map<string, string>()
  for (const user of users) {
    const account = await api.call<{ id: string }>('POST', '/accounts', {
      provider: 'imap',
      email: user,
      host: dovecot.host,
      port: dovecot.imapsPort,
      secure: true,
      allowSelfSigned: true,
      username: user,
      password: PASSWORD,
      ...(smtp && { smtpHost: smtp.host, smtpPort: smtp.port, smtpSecure: false }),
      ...more(user),
    })
    accounts.set(user, account.id)
  }
  return accounts
}

async function allConnected(api: Client, count: number, timeoutMs = 120_000): Promise<void> {
  await eventually(
    async () => {
      const states: string[] = []
      for (let page = 1, more = true; more; page += 1) {
        const list = await api.call<{ accounts: { status: string }[]; pagination: { hasNext: boolean } }>(
          'GET',
          `/accounts?limit=200&page=${page}`,
        )
        states.push(...list.accounts.map((account) => account.status))
        more = list.pagination.hasNext
      }
      const connected = states.filter((status) => status === 'connected').length
      if (connected < count)
        throw new Error(`${connected} of ${count} accounts are connected: ${[...new Set(states)].join(', ')}`)
    },
    timeoutMs,
    200,
  )
}

/** A small message, identified by its subject. */
export function numberedMessage(subject: string): string {
  return [
    `Message-ID: <${subject}@mail.example>`,
    'From: Sender <sender@mail.example>',
    'To: Receiver <receiver@mail.example>',
    `Subject: ${subject}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    `This is ${subject}.`,
    '',
  ].join('\r\n')
}

export interface Mail {
  readonly subjects: string[]
  /** Waits until so many more have arrived. */
  more(messages: number): Promise<void>
  /** Rejects if one could not be delivered. */
  stop(): Promise<void>
}

/** Delivers messages to the mailboxes in turn, until it is stopped. */
export function startMail(dovecot: Dovecot, users: readonly string[], paceMs: number): Mail {
  const subjects: string[] = []
  let isStopped = false
  const run = async () => {
    for (let index = 0; !isStopped; index += 1) {
      const subject = `message-${index}`
      await dovecot.deliver(users[index % users.length] ?? '', numberedMessage(subject))
      subjects.push(subject)
      await sleep(paceMs)
    }
  }
  const running = run()
  running.catch(() => {})
  return {
    subjects,
    async more(messages) {
      const target = subjects.length + messages
      await eventually(() => expect(subjects.length).toBeGreaterThanOrEqual(target))
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}
