import { expect, it } from 'vitest'
import { microsoftAt } from '../../../test/servers/microsoft-mailbox.ts'
import {
  type ScriptedGraphRequest,
  type ScriptedGraphResponse,
  scriptedGraph,
} from '../../../test/servers/scripted-graph.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { type IdMailProvider, type MailAccess, ProviderError, type ScopeSyncRequest } from '../contract/index.ts'

const { signal } = new AbortController()
const received = new Date(Date.UTC(2026, 0, 1)).toISOString()
const range = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 1, 1) }

/** Every list continues on its second page, which continues on its first one. */
function inCircles({ path, query }: ScriptedGraphRequest): ScriptedGraphResponse {
  const next = query.get('$skiptoken') === 'b' ? 'a' : 'b'
  const item = { id: `${path}-${next}`, receivedDateTime: received, parentFolderId: 'inbox', childFolderCount: 0 }
  const isEntity =
    /^\/me\/(mailFolders|messages|calendars)\/[^/]+$/.test(path) || path.startsWith('/me/mailboxSettings')
  if (isEntity) return { body: item }
  return { body: { value: [item], '@odata.nextLink': `/v1.0${path}?$skiptoken=${next}` } }
}

interface Parts {
  mail: IdMailProvider
  access: MailAccess
  url: string
}

async function drain(steps: AsyncIterable<unknown>): Promise<void> {
  for await (const _step of steps);
}

function syncing({ mail, access }: Parts, request: Partial<ScopeSyncRequest> = {}) {
  const all = { scope: 'inbox', cursor: null, initialMessages: 10, oldest: async () => null, signal, ...request }
  return drain(mail.openSession(access).syncScope(all))
}

function openCalendars({ access, url }: Parts) {
  const provider = microsoftAt(url)
  return provider.calendar.open(access)
}

const LISTS: Record<string, (parts: Parts) => Promise<unknown>> = {
  'the folders': ({ mail, access }) => mail.openSession(access).listFolders(),
  'the changes of a folder': (parts) => syncing(parts),
  'the changes since an earlier round': (parts) =>
    syncing(parts, {
      cursor: JSON.stringify({
        v: 1,
        next: '?$deltatoken=x',
        atMs: systemClock.now(),
        isOpen: false,
        listed: null,
        filtered: false,
        comparing: false,
        sinceMs: null,
        baselineMs: 0,
        there: [],
      }),
    }),
  'older messages': ({ mail, access }) =>
    mail.backfill(access).read({
      scope: 'inbox',
      sinceMs: 0,
      beforeMs: Date.UTC(2026, 0, 1),
      limit: 10,
      signal,
      findStored: async (ids) => new Map(ids.map((id) => [id, Date.UTC(2026, 0, 1)])),
    }),
  'the calendars': (parts) => openCalendars(parts).listCalendars(signal),
  'the changes of a calendar': (parts) =>
    drain(openCalendars(parts).syncEvents({ calendarId: 'c', cursor: null, window: range, signal })),
  'the events of a range': (parts) => openCalendars(parts).readRange({ calendarId: 'c', range, expand: true, signal }),
}

it.each(Object.keys(LISTS))('ends when Graph links the pages of %s in a circle', async (list) => {
  const graph = await scriptedGraph(inCircles)
  const error = await LISTS[list]?.(graph).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ProviderError)
  expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('in a circle') })
  expect(graph.asked.length).toBeLessThan(30)
})
