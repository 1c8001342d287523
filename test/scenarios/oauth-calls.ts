import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { type ServicePlace, type ServiceProcess, startServiceProcess } from '../kit/service/process.ts'
import { type Google, startGoogle } from '../servers/google.ts'
import { expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { type Client, client } from './client.ts'
import { numberedMessage, subscribe } from './mailboxes.ts'

export interface PollingScenario {
  mailboxes: number
  /** Instances of the service on one database. */
  replicas: number
}

/**
 * Expires the tokens of many Gmail mailboxes at once while a message arrives in each. Requires one refresh per token, even
 * with several replicas, and no API calls beyond those that the message needs. Runs twice, to catch leftover state.
 */
export async function runPolling(place: ServicePlace, { mailboxes, replicas }: PollingScenario): Promise<void> {
  const [google, application] = await Promise.all([startGoogle(), startApplication()])
  const services: ServiceProcess[] = []
  try {
    const env = { ...google.settings, ...place.env }
    for (let count = 0; count < replicas; count += 1) services.push(await startServiceProcess({ ...place, env }))
    const apis = services.map(({ url, key }) => client(url, key))
    const api = (index: number) => apis[index % apis.length] ?? client('', '')
    await subscribe(api(0), application, ['message.received'])
    const users = Array.from({ length: mailboxes }, (_, index) => `user${index}@gmail.test`)
    const accounts = await Promise.all(users.map((user, index) => importMailbox(api(index), google, user)))
    await eventually(async () => expect(await countConnected(api(0))).toBe(mailboxes))

    const subjects: string[] = []
    const round = async (phase: string) => {
      for (const user of users) {
        subjects.push(`${phase} ${user}`)
        google.deliver(user, numberedMessage(`${phase} ${user}`))
      }
      const before = users.map((user) => google.refreshes(user))
      google.calls.clear()
      // Ask every replica to sync every mailbox. One of them owns it.
      await Promise.all(accounts.flatMap((id) => apis.map((each) => each.call('POST', `/accounts/${id}/sync`))))
      await expectEachAnnouncedOnce(application, subjects, 120_000)
      expect(users.map((user, index) => google.refreshes(user) - (before[index] ?? 0))).toEqual(users.map(() => 1))
    }

    for (const phase of ['first', 'second']) {
      google.expireAccessTokens()
      await round(phase)
      // Each replica may use the expired token once per mailbox.
      const rejected = google.calls.all.filter(({ status }) => status === 401).length
      expect(rejected).toBeLessThanOrEqual(mailboxes * replicas)
      for (const user of users)
        expect([user, google.calls.counts({ user })]).toEqual([user, expectedCalls(google, user)])
    }
  } finally {
    await Promise.all(services.map((service) => service.stop()))
    await application.close()
    await google.close()
  }
}

/** Connects a mailbox with two messages by its refresh token. */
async function importMailbox(api: Client, google: Google, user: string): Promise<string> {
  google.addUser(user)
  for (const subject of ['initialSubjects', 'older']) google.deliver(user, numberedMessage(`${subject} ${user}`))
  const { refreshToken } = await google.grant(user)
  return (await api.call<{ id: string }>('POST', '/accounts', { provider: 'gmail', refreshToken })).id
}

async function countConnected(api: Client): Promise<number> {
  const list = await api.call<{ accounts: { status: string }[] }>('GET', '/accounts?limit=200')
  return list.accounts.filter(({ status }) => status === 'connected').length
}

const HISTORY = 'GET /gmail/v1/users/{userId}/history'

const LABELS = 'GET /gmail/v1/users/{userId}/labels'

/** A sync makes one history request and one batch request for the new message. */
function expectedCalls(google: Google, user: string): Record<string, number> {
  const calls = google.calls.counts({ user })
  const syncs = calls[HISTORY] ?? 0
  // Each replica may request a sync, and a scheduled one may run in between.
  expect([1, 2, 3]).toContain(syncs)
  // A replica that takes over a mailbox lists its labels first, and the owner again after a minute.
  const labelLists = calls[LABELS]
  expect([undefined, 1, 2]).toContain(labelLists)
  const expected = { [HISTORY]: syncs, 'POST /token': 1, 'POST /batch/gmail/v1': 1 }
  return labelLists === undefined ? expected : { ...expected, [LABELS]: labelLists }
}
