import { type Body, Posthorn } from '@posthorn/sdk'
import { demoCurl } from './curl.ts'
import type { Scenario } from './scenario.ts'

const SLUG = 'demo-call'
const BODY = {
  slug: SLUG,
  name: 'Call with the demo',
  description: 'Half an hour, at any time of the day.',
  availability: {
    openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
    durationMinutes: 30,
    maximumDaysAhead: 14,
  },
  bookingForm: { fields: [{ name: 'topic', label: 'What is it about?', type: 'text' }] },
} satisfies Body<'createExperience'>
const TIMEOUT_MS = 20_000
const DAY_MS = 24 * 60 * 60_000

/** For `--booking`: offers times, and waits until a guest has booked one. */
export async function runBooking(scenario: Scenario): Promise<void> {
  const { story, posthorn, service, application, visitor, ended } = scenario
  const { bookingUrl } = await story.step(
    'offer',
    () => posthorn.experiences.create(BODY),
    (experience) => ({
      lines: [`POST /scheduler/experiences → guests book at ${experience.bookingUrl}`],
      curl: demoCurl(service, 'POST', '/scheduler/experiences', BODY),
    }),
  )
  application.offer(bookingUrl)
  await story.step(
    'book',
    async () => {
      await visitor?.book(bookingUrl)
      const signal = visitor === undefined ? ended : AbortSignal.any([ended, AbortSignal.timeout(TIMEOUT_MS)])
      return application.webhooks.waitFor(({ type }) => type === 'booking.confirmed', signal)
    },
    ({ id, data }) => ({
      ...(visitor === undefined && { tookMs: null }),
      lines: [
        `A guest booked ${bookedTime(data)}.`,
        `A signed booking.confirmed webhook arrived (${id}); the standardwebhooks package verified its signature.`,
      ],
      curl: demoCurl(service, 'GET', '/scheduler/bookings'),
    }),
  )
}

function bookedTime({ slot }: Record<string, unknown>): string {
  return new Date(Object(slot).start).toUTCString()
}

/** Books the first slot of tomorrow with the requests of the booking page, which need no key. */
export async function bookAsGuest(bookingUrl: string, nowMs: number): Promise<void> {
  const page = await fetch(bookingUrl, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  await page.body?.cancel()
  if (!page.ok) throw new Error(`The booking page returned ${page.status}.`)
  const posthorn = new Posthorn({
    baseUrl: bookingUrl.slice(0, bookingUrl.lastIndexOf('/book/')),
    timeoutMs: TIMEOUT_MS,
  })
  const range = { start: new Date(nowMs + DAY_MS).toISOString(), end: new Date(nowMs + 2 * DAY_MS).toISOString() }
  const { slots } = await posthorn.slots.list(SLUG, { range, durationMinutes: 30 })
  const [slot] = slots
  if (slot === undefined) throw new Error('The booking page has no slots.')
  const guest = { name: 'Grace Hopper', email: 'grace@example.com' }
  await posthorn.bookings.create(SLUG, { slot, guest, responses: { topic: 'Compilers' } })
}
