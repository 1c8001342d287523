import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  OBJECT,
  objectData,
  objectsAsked,
  scriptedDavCalendar,
} from '../../../test/kit/calendars/scripted-dav-calendar.ts'
import { type DavReply, multistatus } from '../../../test/servers/dav-server.ts'
import { icsObject } from '../../../test/servers/radicale-calendar.ts'
import type { CalendarAccount, EventStep } from '../contract/index.ts'

const WINDOW = { from: Date.parse('2026-10-01T00:00:00Z'), to: Date.parse('2027-10-01T00:00:00Z') }
async function sync(account: CalendarAccount, cursor: string | null, window = WINDOW): Promise<EventStep[]> {
  const { signal } = new AbortController()
  const steps: EventStep[] = []
  for await (const step of account.syncEvents({ calendarId: '/home/c/', cursor, window, signal })) steps.push(step)
  return steps
}

const lastCursor = (steps: readonly EventStep[]) => steps.at(-1)?.cursor ?? ''
const idsOf = (steps: readonly EventStep[]) => steps.flatMap(({ found }) => found.map(({ eventId }) => eventId))
const listRemoved = (steps: readonly EventStep[]) => steps.flatMap(({ removed }) => removed)

describe('sync of a CalDAV calendar', () => {
  it('lists from the window on without an upper bound, and reads the objects in batches', async () => {
    const paths = Array.from({ length: 450 }, (_, at) => `/home/c/${at}.ics`)
    const { account, calls } = await scriptedDavCalendar(({ body }) =>
      body.includes('calendar-query')
        ? multistatus(Object.fromEntries(paths.map((path) => [path, '<D:getetag>"1"</D:getetag>'])))
        : undefined,
    )
    const steps = await sync(account, null)
    expect(idsOf(steps).sort()).toEqual([...paths].sort())
    const query = calls.find(({ body }) => body.includes('calendar-query'))?.body
    expect(query).toContain('<C:time-range start="20260930T000000Z"/>')
    expect(calls.filter(({ body }) => body.includes('multiget')).length).toBeLessThanOrEqual(3)
    // A first sync that was interrupted begins again.
    await expect(sync(account, steps[0]?.cursor ?? '')).rejects.toMatchObject({ kind: 'cursor_expired' })
  })

  it('lists what enters a window that begins earlier, once', async () => {
    const paths: Record<string, string> = { '20260930T000000Z': '/home/c/1.ics', '20250930T000000Z': '/home/c/old.ics' }
    const { account, calls } = await scriptedDavCalendar(({ body }) => {
      const start = /time-range start="(\w+)"/.exec(body)?.[1] ?? ''
      if (body.includes('sync-collection')) return multistatus({}, '<D:sync-token>t2</D:sync-token>')
      return body.includes('calendar-query')
        ? multistatus({ [paths[start] ?? '']: '<D:getetag>"1"</D:getetag>' })
        : undefined
    })
    const earlier = { ...WINDOW, from: Date.parse('2025-10-01T00:00:00Z') }
    const entered = await sync(account, lastCursor(await sync(account, null)), earlier)
    expect(entered.flatMap((step) => step.entered.map(({ eventId }) => eventId))).toEqual(['/home/c/old.ics'])
    expect(idsOf(entered)).toEqual([])
    expect(calls.find(({ body }) => body.includes('start="20250930'))?.body).toContain('end="20261002T000000Z"')
    const after = await sync(account, lastCursor(entered), earlier)
    expect(after.flatMap((step) => step.entered)).toEqual([])
    expect((await sync(account, lastCursor(after))).flatMap((step) => step.entered)).toEqual([])
  })

  it('follows sync tokens over several pages, and reports what is gone before it was read as removed', async () => {
    const pages: Record<string, DavReply> = {
      t1: multistatus(
        { '/home/c/1.ics': '<D:getetag>"2"</D:getetag>', '/home/c/': 507 },
        '<D:sync-token>t2</D:sync-token>',
      ),
      t2: multistatus(
        { '/home/c/2.ics': 404, '/home/c/gone.ics': '<D:getetag>"1"</D:getetag>' },
        '<D:sync-token>t3</D:sync-token>',
      ),
      t3: multistatus({}, '<D:sync-token>t3</D:sync-token>'),
    }
    const { account } = await scriptedDavCalendar(({ body }) => {
      if (body.includes('multiget') && body.includes('gone')) return multistatus({ '/home/c/gone.ics': 404 })
      return pages[/<D:sync-token>(\w+)</.exec(body)?.[1] ?? '']
    })
    const changed = await sync(account, lastCursor(await sync(account, null)))
    expect(idsOf(changed)).toEqual(['/home/c/1.ics'])
    expect(listRemoved(changed).sort()).toEqual(['/home/c/2.ics', '/home/c/gone.ics'])
    const nothing = await sync(account, lastCursor(changed))
    expect([idsOf(nothing), listRemoved(nothing)]).toEqual([[], []])
  })

  it.each([
    [403, '<D:error xmlns:D="DAV:"><D:valid-sync-token/></D:error>', 'cursor_expired'],
    [409, '<error xmlns="DAV:"><valid-sync-token/></error>', 'cursor_expired'],
    [412, '', 'cursor_expired'],
    [410, '', 'cursor_expired'],
    [403, '<D:error xmlns:D="DAV:"><D:need-privileges/></D:error>', 'rejected'],
    [404, '', 'not_found'],
  ])('a sync token that is refused with %i %s is %s', async (status, body, kind) => {
    const { account } = await scriptedDavCalendar((call) =>
      call.body.includes('sync-collection') ? { status, body } : undefined,
    )
    await expect(sync(account, lastCursor(await sync(account, null)))).rejects.toMatchObject({ kind })
  })

  it.each([
    ['ctags', (state: string) => `<CS:getctag>${state}</CS:getctag>`],
    ['nothing but ETags', () => ''],
  ])('compares the state of servers with %s', async (_name, properties) => {
    let state = '1'
    const { account } = await scriptedDavCalendar(({ line, depth }) => {
      if (line !== 'PROPFIND /home/c/') return undefined
      if (depth === '0') return multistatus({ '/home/c/': properties(state) })
      return multistatus({ '/home/c/': '', '/home/c/1.ics': `<D:getetag>"${state}"</D:getetag>` })
    })
    const first = await sync(account, null)
    expect(idsOf(first)).toEqual(['/home/c/1.ics'])
    expect(await sync(account, lastCursor(first))).toEqual([])
    state = '2'
    await expect(sync(account, lastCursor(first))).rejects.toMatchObject({ kind: 'cursor_expired' })
  })

  it('ignores objects of other folders and hosts, and responses that nobody asked for', async () => {
    const hrefs = [
      '/home/c/',
      '/home/d/1.ics',
      '/home/c/../d/2.ics',
      '/home/c/e/3.ics',
      'https://elsewhere.example/home/c/4.ics',
      ':::',
      '/home/c/%zz',
    ]
    const { account, calls } = await scriptedDavCalendar(({ body }) => {
      if (body.includes('calendar-query'))
        return multistatus(Object.fromEntries([...hrefs, '/home/c/1.ics'].map((href) => [href, ''])))
      return body.includes('multiget')
        ? multistatus({ '/home/c/1.ics': objectData(OBJECT), '/home/c/other.ics': objectData(OBJECT) })
        : undefined
    })
    expect(idsOf(await sync(account, null))).toEqual(['/home/c/1.ics'])
    expect(calls.filter(({ body }) => body.includes('multiget')).map(({ body }) => body)).not.toContainEqual(
      expect.stringContaining('/d/'),
    )
  })

  it('knows an object by one path, however the server spells it', async () => {
    const { account } = await scriptedDavCalendar(({ body, line }) => {
      if (body.includes('calendar-query')) return multistatus({ '/home/c/a%40b%20c.ics': '' })
      const port = /:\d+/.exec(line)?.[0] ?? ''
      return body.includes('multiget') ? multistatus({ [`/home/c/a@b%20c.ics${port}`]: objectData(OBJECT) }) : undefined
    })
    expect(idsOf(await sync(account, null))).toEqual(['/home/c/a%40b%20c.ics'])
  })

  it('reads a batch that is too large in halves, and reports an object that is too large', async () => {
    const large = icsObject([
      { summary: 'x'.repeat(700_000), start: { date: '2026-11-20' }, end: { date: '2026-11-21' } },
    ])
    const paths = Array.from({ length: 14 }, (_, at) => `/home/c/${at}.ics`)
    const { account, calls } = await scriptedDavCalendar(({ body }) => {
      if (body.includes('calendar-query'))
        return multistatus(Object.fromEntries([...paths, '/home/c/huge.ics'].map((path) => [path, ''])))
      if (!body.includes('multiget')) return undefined
      const reply = objectsAsked(body, large)
      if (body.includes('huge')) reply.body += 'x'.repeat(9 * 1024 * 1024)
      return reply
    })
    const steps = await sync(account, null)
    expect(idsOf(steps).sort()).toEqual([...paths].sort())
    expect([listRemoved(steps), steps.flatMap(({ unreadable }) => unreadable ?? [])]).toEqual([
      [],
      [{ eventId: '/home/c/huge.ics', reason: 'The object is larger than 8 MB.' }],
    ])
    expect(calls.filter(({ body }) => body.includes('multiget')).length).toBeGreaterThan(3)
  })

  it('refuses a listing with hundreds of namespaces, and one that drips ends with the deadline of the read', async () => {
    const prefixes = Array.from({ length: 580 }, (_, at) => `xmlns:p${at}="urn:${at}"`)
    const open = Array.from({ length: 20 }, (_, at) => `<q:a ${prefixes.slice(at * 29, at * 29 + 29).join(' ')}>`)
    const resource = `${open.join('')}${'<q:b/>'.repeat(1900)}${'</q:a>'.repeat(20)}`
    const listing = (reply: DavReply) =>
      scriptedDavCalendar(({ body }) => (body.includes('calendar-query') ? reply : undefined))
    const range = { calendarId: '/home/c/', range: WINDOW, expand: false }
    const wide = await listing({ body: `<D:multistatus xmlns:D="DAV:">${resource.repeat(300)}</D:multistatus>` })
    const { signal } = new AbortController()
    await expect(wide.account.readRange({ ...range, signal })).rejects.toMatchObject({ kind: 'limit_exceeded' })
    const slow = await listing({ dripping: '<D:multistatus xmlns:D="DAV:">' })
    const deadline = AbortSignal.timeout(300)
    await expect(slow.account.readRange({ ...range, signal: deadline })).rejects.toMatchObject({ timedOut: true })
  })

  it('refuses a listing that never ends', async () => {
    const { account } = await scriptedDavCalendar(({ body }) =>
      body.includes('calendar-query') ? { endless: '<D:multistatus xmlns:D="DAV:">'.padEnd(64 * 1024) } : undefined,
    )
    await expect(sync(account, null)).rejects.toMatchObject({ kind: 'limit_exceeded' })
  })

  it('ends when a server always has more changes', async () => {
    let pages = 0
    const { account } = await scriptedDavCalendar(({ body }) => {
      if (!body.includes('sync-collection')) return undefined
      pages += 1
      return multistatus({ '/home/c/': 507 }, `<D:sync-token>${randomUUID()}</D:sync-token>`)
    })
    await sync(account, lastCursor(await sync(account, null)))
    expect(pages).toBe(100)
  })

  it.each(['', 'https://elsewhere.example/home/c/', '//elsewhere.example/c/', 'home/c/', `/${'x'.repeat(5000)}`])(
    'does not know the calendar %j',
    async (calendarId) => {
      const { account, calls } = await scriptedDavCalendar(() => undefined)
      const range = { calendarId, range: WINDOW, expand: false, signal: new AbortController().signal }
      await expect(account.readRange(range)).rejects.toMatchObject({ kind: 'not_found' })
      expect(calls.map(({ line }) => line)).toEqual(['PROPFIND /'])
    },
  )
})
