import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { type ServicePlace, type ServiceProcess, startServiceProcess } from '../kit/process.ts'
import { type Google, startGoogle } from '../servers/google.ts'
import { expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { type Client, client } from './client.ts'
import { numberedMail, subscribe } from './mailboxes.ts'

export interface PollingStory {
  mailboxes: number
  /** Of the service, on one database when there are several. */
  replicas: number
}

/**
 * Many mailboxes of Gmail, whose tokens all end at once while mail arrives in each. Each token is refreshed once, whichever replica needs
 * it first, and no mailbox is asked for more than its mail takes. Twice, because a refresh must not leave anything behind.
 */
export async function playPolling(place: ServicePlace, { mailboxes, replicas }: PollingStory): Promise<void> {
  const [google, application] = await Promise.all([startGoogle(), startApplication()])
  const services: ServiceProcess[] = []
  try {
    const env = { ...google.settings, ...place.env }
    for (let count = 0; count < replicas; count += 1) services.push(await startServiceProcess({ ...place, env }))
    const apis = services.map(({ url, key }) => client(url, key))
    const api = (index: number) => apis[index % apis.length] ?? client('', '')
    await subscribe(api(0), application, ['message.received'])
    const users = Array.from({ length: mailboxes }, (_, index) => `user${index}@gmail.test`)
    const accounts = await Promise.all(users.map((user, index) => imported(api(index), google, user)))
    await eventually(async () => expect(await connectedOf(api(0))).toBe(mailboxes))

    const subjects: string[] = []
    const round = async (act: string) => {
      for (const user of users) {
        subjects.push(`${act} ${user}`)
        google.deliver(user, numberedMail(`${act} ${user}`))
      }
      const before = users.map((user) => google.refreshes(user))
      google.calls.clear()
      // Every replica is asked for every mailbox; its owner is one of them.
      await Promise.all(accounts.flatMap((id) => apis.map((each) => each.call('POST', `/accounts/${id}/sync`))))
      await expectEachAnnouncedOnce(application, subjects, 120_000)
      expect(users.map((user, index) => google.refreshes(user) - (before[index] ?? 0))).toEqual(users.map(() => 1))
    }

    for (const act of ['first', 'second']) {
      google.expireAccessTokens()
      await round(act)
      // Each token is refused once, then everybody has the new one.
      const refused = google.calls.all.filter(({ status }) => status === 401).length
      expect(refused).toBeLessThanOrEqual(mailboxes * replicas)
      for (const user of users)
        expect([user, google.calls.counts({ user })]).toEqual([user, expectedCalls(google, user, replicas)])
    }
  } finally {
    await Promise.all(services.map((service) => service.stop()))
    await application.close()
    await google.close()
  }
}

/** A mailbox of two mails, by its refresh token. */
async function imported(api: Client, google: Google, user: string): Promise<string> {
  google.addUser(user)
  for (const subject of ['old', 'older']) google.deliver(user, numberedMail(`${subject} ${user}`))
  const { refreshToken } = await google.grant(user)
  return (await api.call<{ id: string }>('POST', '/accounts', { provider: 'gmail', refreshToken })).id
}

async function connectedOf(api: Client): Promise<number> {
  const list = await api.call<{ accounts: { status: string }[] }>('GET', '/accounts?limit=200')
  return list.accounts.filter(({ status }) => status === 'connected').length
}

const HISTORY = 'GET /gmail/v1/users/{userId}/history'

const LABELS = 'GET /gmail/v1/users/{userId}/labels'

/** A look is one request, and one more fetches the mail. */
function expectedCalls(google: Google, user: string, replicas: number): Record<string, number> {
  const calls = google.calls.counts({ user })
  const looks = calls[HISTORY] ?? 0
  // Asked for by each replica; and a look that was due anyway may fall in between.
  expect([1, 2, 3]).toContain(looks)
  // Whoever takes a mailbox over from another replica begins with its labels.
  const takenOver = replicas > 1 ? calls[LABELS] : undefined
  expect([undefined, 1, 2]).toContain(takenOver)
  const expected = { [HISTORY]: looks, 'POST /token': 1, 'POST /batch/gmail/v1': 1 }
  return takenOver === undefined ? expected : { ...expected, [LABELS]: takenOver }
}
