import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { multistatus } from '../dav-server.ts'
import { CHUNK, pour, type Stream } from './pour.ts'

/** Multistatus documents that cost a reader much time or memory. */
export const CALDAV_ATTACKS = [
  'prefixes',
  'attributes',
  'depth',
  'resources',
  'text',
  'entities',
  'rules',
  'endless',
  'drip',
  'hang',
] as const
export type CaldavAttack = (typeof CALDAV_ATTACKS)[number]

export interface HostileCaldav {
  url: string
  /** Attacks from now on, or behaves well, which is how it starts. */
  isHostile: boolean
  close(): Promise<void>
}

/** A CalDAV server with one empty calendar for each attack, below the path of that name: `/prefixes/`. */
export async function startHostileCaldav(): Promise<HostileCaldav> {
  const server = createServer((request, response) => {
    response.on('error', () => {})
    respond(request, response, caldav.isHostile).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const caldav: HostileCaldav = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isHostile: false,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return caldav
}

const XML = { 'content-type': 'application/xml; charset=utf-8' }

async function respond(request: IncomingMessage, response: ServerResponse, isHostile: boolean): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const name = request.url?.split('/')[1] ?? ''
  const attack = CALDAV_ATTACKS.find((each) => each === name)
  response.writeHead(207, XML)
  if (isHostile && attack === 'hang') return
  const stream = isHostile && attack !== undefined ? STREAMS[attack] : undefined
  if (stream !== undefined) {
    pour(stream(), response)
    return
  }
  response.end(usual(name, Buffer.concat(chunks).toString(), isHostile))
}

/** Responds as a calendar server without events. The attack `rules` adds an event whose rule is slow to expand. */
function usual(name: string, body: string, isHostile: boolean): string {
  const calendar = `/${name}/calendar/`
  const object = `${calendar}1.ics`
  const hasEvent = isHostile && name === 'rules'
  const buildDocument = (resources: Record<string, string>, more = '') => String(multistatus(resources, more).body)
  if (body.includes('calendar-home-set')) {
    return buildDocument({ [`/${name}/`]: `<C:calendar-home-set><D:href>/${name}/</D:href></C:calendar-home-set>` })
  }
  if (body.includes('calendar-multiget')) {
    return buildDocument({
      [object]: `<D:getetag>"${Date.now()}"</D:getetag><C:calendar-data>${RULES}</C:calendar-data>`,
    })
  }
  if (body.includes('calendar-query') || body.includes('sync-collection')) {
    const resources = hasEvent ? { [object]: `<D:getetag>"${Date.now()}"</D:getetag>` } : undefined
    return buildDocument(resources ?? {}, `<D:sync-token>t${Date.now()}</D:sync-token>`)
  }
  return buildDocument({
    [calendar]: `<D:resourcetype><D:collection/><C:calendar/></D:resourcetype><D:displayname>${name}</D:displayname><D:sync-token>t${Date.now()}</D:sync-token>`,
  })
}

const RULES = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//hostile//EN',
  ...Array.from({ length: 200 }, (_, index) => [
    'BEGIN:VEVENT',
    'UID:slow',
    `RECURRENCE-ID:202${index % 10}0101T000000Z`,
    'DTSTAMP:20260101T000000Z',
    'DTSTART:19000101T000000Z',
    'DTEND:19000101T010000Z',
    'RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30;BYHOUR=1,2,3;BYMINUTE=1,2,3;BYSECOND=1,2,3',
    'END:VEVENT',
  ]).flat(),
  'END:VCALENDAR',
].join('\r\n')

const ROOT = '<D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'
const RESPONSE =
  '<D:response><D:href>/x</D:href><D:propstat><D:prop><D:getetag>"1"</D:getetag></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>'
const MEGABYTE = 1024 * 1024

const STREAMS: Partial<Record<CaldavAttack, () => Stream>> = {
  prefixes: () => ({ head: declarations(580), next: () => `<n579:a/>${RESPONSE}`.repeat(64), length: 4 * MEGABYTE }),
  attributes: () => ({
    head: `${ROOT}<D:response `,
    next: numbered((number) => `a${number}="x" `),
    length: 4 * MEGABYTE,
  }),
  depth: () => ({ head: ROOT, next: numbered((number) => `<a xmlns:p${number}="u${number}">`), length: 4 * MEGABYTE }),
  resources: () => ({ head: ROOT, next: () => RESPONSE.repeat(64), length: 16 * MEGABYTE }),
  text: () => ({ head: `${ROOT}<D:response><D:href>`, next: () => 'x'.repeat(CHUNK), length: 64 * MEGABYTE }),
  entities: () => ({
    head: `<!DOCTYPE a [<!ENTITY b "${'x'.repeat(1000)}">]>${ROOT}`,
    next: () => '&b;&amp;&#65;'.repeat(1000),
  }),
  endless: () => ({ head: `${ROOT}<!-- `, next: () => 'x'.repeat(CHUNK) }),
  drip: () => ({ head: ROOT, next: () => ' ', everyMs: 200 }),
}

/** Opens `count` elements, each with a namespace prefix of its own. */
function declarations(count: number): string {
  const elements = Array.from({ length: count }, (_, index) => `<n${index}:a xmlns:n${index}="urn:${index}">`)
  return ROOT + elements.join('')
}

function numbered(text: (number: number) => string): () => string {
  let number = 0
  return () => {
    let chunk = ''
    while (chunk.length < CHUNK) {
      number += 1
      chunk += text(number)
    }
    return chunk
  }
}
