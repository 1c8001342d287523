import { onTestFinished } from 'vitest'
import type { CalendarAccount, CalendarEdits } from '../../../src/providers/contract/index.ts'
import { type DavCall, type DavReply, multistatus, startDavServer } from '../../servers/dav-server.ts'
import { icsObject } from '../../servers/radicale-calendar.ts'
import { caldavAccess, testCaldav } from './caldav.ts'

const HOME = `<C:calendar-home-set><D:href>/home/</D:href></C:calendar-home-set>`
/** A day without a time. */
export const OBJECT = icsObject([{ summary: 'Lunch', start: { date: '2026-11-20' }, end: { date: '2026-11-21' } }], {
  uid: 'u',
})

/**
 * A server with the calendar `/home/c/`, which lists one object and sends the same text for each that is asked for by path. `reply` is
 * asked before.
 */
export async function scriptedDavCalendar(
  reply: (call: DavCall) => DavReply | undefined,
): Promise<{ account: CalendarAccount; edits: CalendarEdits; calls: DavCall[] }> {
  const server = await startDavServer((call) => reply(call) ?? usual(call))
  const { provider, close } = testCaldav()
  onTestFinished(async () => {
    await close()
    await server.close()
  })
  const access = caldavAccess(`http://127.0.0.1:${server.port}/`, 'ada', 'secret')
  const edits = provider.edits?.(access)
  if (edits === undefined) throw new Error('the provider has no changes')
  return {
    account: provider.open(access),
    edits,
    calls: server.calls,
  }
}

function usual({ line, body }: DavCall): DavReply {
  if (line === 'PROPFIND /') return multistatus({ '/': HOME })
  if (line === 'PROPFIND /home/c/') return multistatus({ '/home/c/': '<D:sync-token>t1</D:sync-token>' })
  if (body.includes('calendar-query')) return multistatus({ '/home/c/1.ics': '<D:getetag>"1"</D:getetag>' })
  return body.includes('calendar-multiget') ? objectsAsked(body) : { status: 404 }
}

/** The same text under each path that a multiget asks for. */
export function objectsAsked(body: string, text = OBJECT): DavReply {
  const hrefs = [...body.matchAll(/<D:href>([^<]+)</g)].map(([, href = '']) => href)
  return multistatus(Object.fromEntries(hrefs.map((href) => [href, objectData(text)])))
}

/** The properties of an object. */
export function objectData(text: string): string {
  return `<D:getetag>"1"</D:getetag><C:calendar-data>${text}</C:calendar-data>`
}
