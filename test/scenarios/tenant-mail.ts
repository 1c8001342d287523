import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import type { Api } from '../kit/http/http.ts'

/** A connected mailbox of a tenant, at the fake of its provider. */
export interface TenantMailbox {
  client: Api
  accountId: string
  deliver(subject: string): Promise<unknown>
  /** The raw messages that the provider sent. */
  sent(): readonly string[]
}

const RECIPIENT = 'eve@other.example'

/** Searches, sends, and creates, changes and sends a draft. Each message is sent once, and announced once. */
export async function expectMailOperations({ client, accountId, deliver, sent }: TenantMailbox): Promise<void> {
  const path = `/accounts/${accountId}`
  const find = async (query: string): Promise<string[]> =>
    (await client.get(`${path}/messages?${query}`)).json.messages.map(({ subject }: { subject: string }) => subject)
  for (const subject of ['Invoice 4711', 'Lunch']) await deliver(subject)
  await client.post(`${path}/sync`)
  await eventually(async () => expect((await find('')).sort()).toEqual(['Invoice 4711', 'Lunch']))
  // Messages are found soon after they are listed.
  await eventually(async () => expect(await find('q=invoice')).toEqual(['Invoice 4711']))
  await eventually(async () => expect(await find('q=lunch')).toEqual(['Lunch']))
  await eventually(async () => expect(await find('subject=lunch')).toEqual(['Lunch']))

  const message = { to: [RECIPIENT], subject: 'Sent at once', body: 'Hello Eve' }
  const first = await client.post(`${path}/messages/send`, message)
  expect([first.status, first.text]).toEqual([200, expect.any(String)])
  await isSent(client, first.json.outboxId)
  const created = await client.post('/drafts', { accountId, to: [RECIPIENT], subject: 'Draft', body: 'Later' })
  expect([created.status, created.text]).toEqual([200, expect.any(String)])
  const { id: draftId } = created.json
  expect((await client.put(`/drafts/${draftId}`, { subject: 'Changed draft' })).status).toBe(200)
  expect((await client.get(`/drafts/${draftId}`)).json).toMatchObject({ subject: 'Changed draft', accountId })
  const second = await client.post(`/drafts/${draftId}/send`, {})
  expect([second.status, second.text]).toEqual([200, expect.any(String)])
  await isSent(client, second.json.outboxId)
  await eventually(async () => expect((await client.get(`/drafts/${draftId}`)).status).toBe(404))
  expect(sent().map((raw) => /^Subject: (.*?)\r?$/m.exec(raw)?.[1])).toEqual(['Sent at once', 'Changed draft'])

  // The copies in Sent are synced, and announced no second time.
  await client.post(`${path}/sync`)
  await eventually(async () => expect(await find('q=changed')).toEqual(['Changed draft']))
  await eventually(async () => {
    const { events } = (await client.get(`/events?accountId=${accountId}&type=message.sent&limit=50`)).json
    const subjects = events.map(({ data }: { data: { subject: string } }) => data.subject)
    expect(subjects.sort()).toEqual(['Changed draft', 'Sent at once'])
  })
}

/** Waits until the outbox has given up, and returns why. */
export async function sendingFailure({
  client,
  accountId,
}: Pick<TenantMailbox, 'client' | 'accountId'>): Promise<string> {
  const message = { to: [RECIPIENT], subject: 'Refused', body: 'Hello Eve' }
  const { outboxId } = (await client.post(`/accounts/${accountId}/messages/send`, message)).json
  return eventually(async () => {
    const { status, error } = (await client.get(`/outbox/${outboxId}`)).json
    expect(status).toBe('failed')
    return error.message
  })
}

async function isSent(client: Api, outboxId: string): Promise<void> {
  await eventually(async () => expect((await client.get(`/outbox/${outboxId}`)).json).toMatchObject({ status: 'sent' }))
}
