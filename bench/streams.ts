import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../test/kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { type Client, client } from '../test/scenarios/client.ts'
import { cpuMs, median } from './figures.ts'
import { onEachStore, type Place } from './stores.ts'

const IDLE_STREAMS = 1000
const LIVE_STREAMS = 100
const STREAMS_PER_KEY = 100
const IDLE_MS = Number(process.env.BENCH_SECONDS ?? 30) * 1000
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7)
const BOOKINGS = 20
/** So that the events of one booking are not sent with those of the next. */
const PACE_MS = 200
/** Until what follows a start, a connection or a booking is done. */
const SETTLE_MS = 3000
/** Until V8 has collected what the start and a thousand requests left. */
const COLLECTED_MS = 40_000
const SLUG = 'call'
const SLOT_MS = 30 * 60_000
const DAY_MS = 24 * 60 * 60_000
/** The slots that a guest chooses from. */
const SHOWN_DAYS = 30

const LIMITS = 'limits: 1 % of a core for 1,000 idle streams, 1.5 × for a booking beside 100 live ones'

interface Stream {
  /** Events received. */
  count(type: string): number
  close(): void
}

/**
 * The CPU time of the service for 1,000 event streams on which nothing happens, compared with none, and for bookings beside 100
 * streams that each receive their events, in turns with bookings beside none.
 */
export async function streams(say: (line: string) => void): Promise<void> {
  await onEachStore(say, async (title, place) => {
    say(title)
    await measure(place, say)
  })
  say(LIMITS)
}

async function measure(place: Place, say: (line: string) => void): Promise<void> {
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
  try {
    const api = client(service.url, service.key)
    const keys: string[] = []
    while (keys.length * STREAMS_PER_KEY < IDLE_STREAMS) keys.push(await createKey(api, keys.length))
    await api.call('POST', '/scheduler/experiences', {
      slug: SLUG,
      name: SLUG,
      timezone: 'UTC',
      availability: {
        openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
        durations: [SLOT_MS / 60_000],
        reminders: [],
      },
    })
    const slots = slotTimes()
    await book(api, slots, ROUNDS * BOOKINGS)
    const without = await idleShare(service)
    const idle = await openStreams(service, keys, IDLE_STREAMS)
    const beside = await idleShare(service)
    for (const stream of idle) stream.close()
    say(`  nothing happens, no streams            ${percent(without)} of a core`)
    say(
      `  ${IDLE_STREAMS.toLocaleString('en')} idle streams                     ${percent(beside)}, ${percent(beside - without)} more`,
    )
    const alone: number[] = []
    const live: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await bookingMs(service, api, slots, without))
      live.push(await besideStreams(service, api, slots, without, keys))
    }
    const [one, other] = [median(alone), median(live)]
    say(`  a booking, no streams                  ${one.toFixed(1)} ms of CPU`)
    say(`  a booking beside ${LIVE_STREAMS} live streams       ${other.toFixed(1)} ms, ${(other / one).toFixed(2)} ×`)
  } finally {
    await service.stop()
  }
}

async function createKey(api: Client, index: number): Promise<string> {
  const { key } = await api.call<{ key: string }>('POST', '/api-keys', { name: `streams ${index}`, scopes: ['read'] })
  return key
}

/** Starts of slots that nothing else takes, from the day after tomorrow on. */
function* slotTimes(): Generator<number> {
  const first = Math.ceil(Date.now() / DAY_MS + 1) * DAY_MS
  for (let index = 0; ; index += 1) yield first + index * SLOT_MS
}

/** As guests do: the slots of a month, then the booking of one. */
async function book(api: Client, slots: Iterator<number>, count: number, paceMs = 0): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const start = Number(slots.next().value)
    const range = { start: new Date(start).toISOString(), end: new Date(start + SHOWN_DAYS * DAY_MS).toISOString() }
    await api.call('POST', `/scheduler/experiences/${SLUG}/availability`, {
      range,
      durationMinutes: SLOT_MS / 60_000,
    })
    const { status } = await api.call<{ status: string }>('POST', `/scheduler/experiences/${SLUG}/bookings`, {
      slot: { start: new Date(start).toISOString(), end: new Date(start + SLOT_MS).toISOString() },
      guest: { email: 'guest@example.com', name: 'Guest' },
    })
    if (status !== 'confirmed') throw new Error(`the booking is ${status}`)
    await sleep(paceMs)
  }
}

/** The share of a core that the service takes while nothing happens. */
async function idleShare(service: ServiceProcess): Promise<number> {
  await sleep(COLLECTED_MS)
  const before = await cpuMs(service.pid)
  const startedMs = performance.now()
  await sleep(IDLE_MS)
  return ((await cpuMs(service.pid)) - before) / (performance.now() - startedMs)
}

/** CPU time for a booking, without that of the idle service. */
async function bookingMs(service: ServiceProcess, api: Client, slots: Iterator<number>, idle: number): Promise<number> {
  await sleep(SETTLE_MS)
  const before = await cpuMs(service.pid)
  const startedMs = performance.now()
  await book(api, slots, BOOKINGS, PACE_MS)
  await sleep(SETTLE_MS)
  const used = (await cpuMs(service.pid)) - before - idle * (performance.now() - startedMs)
  return used / BOOKINGS
}

async function besideStreams(
  service: ServiceProcess,
  api: Client,
  slots: Iterator<number>,
  idle: number,
  keys: readonly string[],
): Promise<number> {
  const opened = await openStreams(service, keys, LIVE_STREAMS)
  const spent = await bookingMs(service, api, slots, idle)
  for (const stream of opened) {
    const received = stream.count('booking.confirmed')
    if (received !== BOOKINGS) throw new Error(`a stream received ${received} of ${BOOKINGS} bookings`)
    stream.close()
  }
  return spent
}

async function openStreams(service: ServiceProcess, keys: readonly string[], count: number): Promise<Stream[]> {
  const opened: Stream[] = []
  while (opened.length < count) {
    const key = keys[Math.floor(opened.length / STREAMS_PER_KEY)] ?? ''
    opened.push(await openStream(service, key, opened.length))
  }
  return opened
}

/** Over a raw socket, because the clients share the two cores with the service. */
async function openStream({ port }: ServiceProcess, key: string, index: number): Promise<Stream> {
  // One address may open a quarter of the connections.
  const localAddress = `127.0.0.${2 + (index % 100)}`
  const socket = createConnection({ port, host: '127.0.0.1', localAddress })
  let text = ''
  let isClosed = false
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  socket.write(`GET /events/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n\r\n`)
  await eventually(() => text.includes('\nid: ') || isClosed)
  if (!text.startsWith('HTTP/1.1 200') || isClosed) throw new Error(`the service refused a stream: ${text}`)
  return {
    count(type) {
      if (isClosed) throw new Error('the service ended a stream')
      return text.split(`\nevent: ${type}\n`).length - 1
    },
    close: () => socket.destroy(),
  }
}

const percent = (share: number) => `${(100 * share).toFixed(2)} %`
