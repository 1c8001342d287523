import { setTimeout as sleep } from 'node:timers/promises'
import type { Radicale } from '../../servers/radicale.ts'
import { icsObject } from '../../servers/radicale-calendar.ts'
import { postToAny } from '../repeated-requests.ts'

/** The instances that accept requests, with their keys. */
export type Instances = readonly { url: string; key: string }[]

/** Requests one after the other, until it is stopped. */
export interface Load {
  /** So many were successful. */
  readonly count: number
  /** Rejects if one failed. */
  stop(): Promise<void>
}

const DAY_MS = 86_400_000
const SLOT_MS = 300_000
/** The calendar of a host may take longer than a guest waits, on a busy machine. */
const BOOKING_REPEATED_AFTER = [409, 502, 503]

export const RECIPIENT = 'bo@example.com'
export const buildSendSubject = (index: number) => `send-${index}`
export const buildGuest = (index: number) => `guest-${index}@example.com`
export const buildSlug = (host: number) => `call-${host}`

/** From each account in turn. */
export function startSends(instances: Instances, accountIds: readonly string[], paceMs: number): Load {
  return startLoad(paceMs, async (index) => {
    const subject = buildSendSubject(index)
    const path = `/accounts/${accountIds[index % accountIds.length]}/messages/send`
    await postToAny(inTurn(instances, index), { path, body: { to: [RECIPIENT], subject, body: 'Hello' }, key: subject })
  })
}

/** The next free slot of each host in turn. */
export function startBookings(instances: Instances, hosts: number, paceMs: number): Load {
  const firstMs = Math.ceil(Date.now() / DAY_MS + 1) * DAY_MS
  return startLoad(paceMs, async (index) => {
    await postToAny(inTurn(instances, index), {
      path: `/scheduler/experiences/${buildSlug(index % hosts)}/bookings`,
      body: {
        slot: { start: new Date(firstMs + Math.floor(index / hosts) * SLOT_MS).toISOString() },
        guest: { email: buildGuest(index), name: 'Guest' },
      },
      key: `booking-${index}`,
      repeatedAfter: BOOKING_REPEATED_AFTER,
    })
  })
}

/** What another program does to one event, which does not change again. */
export interface CalendarEdit {
  user: string
  path: string
  kind: 'created' | 'updated' | 'deleted'
  summary: string
}

const KINDS = ['created', 'updated', 'deleted'] as const

/** Stores the events that the edits change or delete, and returns the edits. */
export async function prepareEdits(
  radicale: Radicale,
  calendars: ReadonlyMap<string, string>,
  count: number,
): Promise<CalendarEdit[]> {
  const users = [...calendars.keys()]
  const edits = Array.from({ length: count }, (_, index): CalendarEdit => {
    const user = users[index % users.length] ?? ''
    const kind = KINDS[(index + Math.floor(index / users.length)) % KINDS.length] ?? 'created'
    return { user, path: `${calendars.get(user)}event-${index}.ics`, kind, summary: `${kind}-${index}` }
  })
  for (const [user, calendar] of calendars) {
    const before = edits.filter((edit) => edit.user === user && edit.kind !== 'created')
    const objects = before.map(({ path, kind, summary }): [string, string] => [
      path.slice(calendar.length),
      buildObject(path, kind === 'updated' ? `before ${summary}` : summary),
    ])
    await radicale.storeObjects(calendar, objects)
  }
  return edits
}

export function startEdits(radicale: Radicale, edits: readonly CalendarEdit[], paceMs: number): Load {
  return startLoad(paceMs, async (index) => {
    const edit = edits[index]
    if (edit === undefined) throw new Error('The run lasts longer than its edits.')
    const { user, path, kind, summary } = edit
    if (kind === 'deleted') await radicale.request(user, 'DELETE', path)
    else await radicale.request(user, 'PUT', path, buildObject(path, summary))
  })
}

/** On a day of the next year, by the number of the event. */
function buildObject(path: string, summary: string): string {
  const number = Number(/(\d+)\.ics$/.exec(path)?.[1])
  const at = (hour: string) => {
    const day = new Date(Date.now() + (1 + (number % 300)) * DAY_MS).toISOString().slice(0, 10)
    return { dateTime: `${day}T${hour}:00:00`, timeZone: 'UTC' }
  }
  return icsObject([{ summary, start: at('09'), end: at('10') }], { uid: `event-${number}` })
}

/** Which instance is asked first changes with each request. */
function inTurn(instances: Instances, index: number): Instances {
  return index % 2 === 0 ? instances : instances.toReversed()
}

function startLoad(paceMs: number, request: (index: number) => Promise<void>): Load {
  let count = 0
  let isStopped = false
  const run = async () => {
    while (!isStopped) {
      await request(count)
      count += 1
      await sleep(paceMs)
    }
  }
  const running = run()
  running.catch(() => {})
  return {
    get count() {
      return count
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}
