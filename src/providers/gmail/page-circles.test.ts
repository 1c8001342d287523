import { expect, it, onTestFinished } from 'vitest'
import { type ScriptedRequest, type ScriptedResponse, startScripted } from '../../../test/servers/scripted-http.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { type MailAccess, ProviderError, type ScopeSyncRequest } from '../contract/index.ts'
import { gmailProvider } from './index.ts'

const { signal } = new AbortController()
const NOW = Date.UTC(2026, 0, 1)
const range = { from: NOW, to: Date.UTC(2026, 1, 1) }

/** Every list continues on its second page, which continues on its first one. */
function inCircles({ path, query, body }: ScriptedRequest): ScriptedResponse {
  const next = query.get('pageToken') === 'b' ? 'a' : 'b'
  if (path.includes('/labels')) return { body: { labels: [{ id: 'INBOX', name: 'INBOX', type: 'system' }] } }
  if (path.includes('/profile')) return { body: { historyId: '100' } }
  if (path.includes('/history')) return { body: { historyId: '200', nextPageToken: next } }
  if (path.includes('/messages?')) return { body: { messages: [{ id: `m${next}` }], nextPageToken: next } }
  if (path.includes('/calendar')) return { body: { items: [], nextPageToken: next } }
  const parts = [...body.matchAll(/GET \S*\/messages\/(\w+)\?/g)].map(([, id = ''], index) => {
    const message = { id, internalDate: '1000', labelIds: ['INBOX'], payload: { mimeType: 'text/plain', headers: [] } }
    return `--b\r\nContent-ID: <response-item-${index}>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n${JSON.stringify(message)}\r\n`
  })
  return { headers: { 'content-type': 'multipart/mixed; boundary=b' }, body: `${parts.join('')}--b--` }
}

type Provider = ReturnType<typeof gmailProvider>

async function drain(steps: AsyncIterable<unknown>): Promise<void> {
  for await (const _step of steps);
}

function syncing({ mail }: Provider, access: MailAccess, request: Partial<ScopeSyncRequest> = {}) {
  const all = { scope: '*', cursor: null, initialMessages: 10, oldest: async () => null, signal, ...request }
  return drain(mail.openSession(access).syncScope(all))
}

const request = {
  providerMessageId: 'stored',
  receivedAt: NOW,
  unread: false,
  starred: false,
  folders: [],
}
const since = { calendarId: 'c', window: range, signal }

const LISTS: Record<string, (provider: Provider, access: MailAccess) => Promise<unknown>> = {
  'the first sync': (provider, access) => syncing(provider, access),
  'the history': (provider, access) => syncing(provider, access, { cursor: JSON.stringify({ history: '100' }) }),
  'a comparison': (provider, access) =>
    syncing(provider, access, { comparison: { listStored: async (after) => (after === undefined ? [request] : []) } }),
  'older messages': ({ mail }, access) =>
    mail.backfill(access).read({
      scope: '*',
      sinceMs: 0,
      beforeMs: NOW,
      limit: 10,
      signal,
      findStored: async (ids) => new Map(ids.map((id) => [id, NOW])),
    }),
  'the number of older messages': ({ mail }, access) =>
    mail.backfill(access).count({ scope: '*', sinceMs: 0, beforeMs: NOW, signal }),
  'the calendars': ({ calendar }, access) => calendar.open(access).listCalendars(signal),
  'the first sync of a calendar': ({ calendar }, access) =>
    drain(calendar.open(access).syncEvents({ ...since, cursor: null })),
  'the changes of a calendar': ({ calendar }, access) =>
    drain(calendar.open(access).syncEvents({ ...since, cursor: JSON.stringify({ from: 0, token: 't' }) })),
  'the events of a range': ({ calendar }, access) =>
    calendar.open(access).readRange({ calendarId: 'c', range, expand: true, signal }),
}

async function scripted(respond: (request: ScriptedRequest) => ScriptedResponse) {
  const server = await startScripted(respond)
  const provider = gmailProvider({ apiUrl: server.url, clock: systemClock })
  onTestFinished(async () => {
    await provider.mail.closeConnections()
    await server.close()
  })
  const access: MailAccess = {
    accountId: 'acc_1',
    email: 'a@gmail.test',
    settings: {},
    secrets: {},
    accessToken: async () => 'good',
  }
  return { server, provider, access }
}

it.each(Object.keys(LISTS))('ends when Google links the pages of %s in a circle', async (list) => {
  const { server, provider, access } = await scripted(inCircles)
  const error = await LISTS[list]?.(provider, access).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ProviderError)
  expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('in a circle') })
  expect(server.asked.length).toBeLessThan(30)
})

it('ends when records of the history lead back to earlier ones', async () => {
  const ids = ['110', '120', '110']
  const { server, provider, access } = await scripted((request) => {
    if (!request.path.includes('/history')) return inCircles(request)
    const history = [{ id: ids.shift() ?? '120', labelsAdded: [{ message: { id: 'm', labelIds: ['INBOX'] } }] }]
    return { body: { history, historyId: '200', nextPageToken: 'more' } }
  })
  const reading = syncing(provider, access, { cursor: JSON.stringify({ history: '100' }) })
  await expect(reading).rejects.toMatchObject({ kind: 'unavailable' })
  expect(server.asked.length).toBeLessThan(30)
})
