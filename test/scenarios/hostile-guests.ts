import { setTimeout as sleep } from 'node:timers/promises'
import PostalMime from 'postal-mime'
import { expect } from 'vitest'
import type { SmtpSink } from '../servers/smtp.ts'
import type { Client } from './client.ts'

export interface AttackedPage {
  /** The names and ids that strangers know. */
  known: { slug: string; bookingId: string }
  /** Books as guests of the application and of the page do, every `paceMs`, until `stop`. */
  attack(paceMs: number): void
  /**
   * Requires that every such booking was made, that the guest whose links were guessed at can still cancel, that nobody but guests got a
   * message because of strangers, and that none has their text. Returns how many were booked, and messages to addresses that strangers entered.
   */
  stop(smtp: SmtpSink): Promise<{ booked: number; messages: number }>
}

const SLUG = 'under-attack'
const HALF_HOUR_MS = 30 * 60_000
/** Strangers book the time before. */
const QUIET_DAYS = 30
/** Bookings without a key: their messages count for the client, who may cause ten a day. */
const OF_THE_PAGE = 5
/** Five strangers' addresses may cause ten messages each. */
const MAX_MESSAGES = 50

/** An experience that anybody may book, whose host is the account. */
export async function openBookingPage(api: Client, url: string, accountId: string): Promise<AttackedPage> {
  await api.call('POST', '/scheduler/experiences', {
    slug: SLUG,
    name: 'Call',
    timezone: 'UTC',
    defaultAccountIds: [accountId],
    availability: {
      openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
      durations: [30],
      intervalMinutes: 30,
      reminders: [],
    },
  })
  const firstMs = (Math.floor(Date.now() / HALF_HOUR_MS) + QUIET_DAYS * 48) * HALF_HOUR_MS
  let booked = 0
  const path = `/scheduler/experiences/${SLUG}/bookings`
  const body = () => ({
    slot: { start: new Date(firstMs + booked * HALF_HOUR_MS).toISOString() },
    guest: { email: `guest${booked}@mail.example`, name: 'Ada' },
  })
  interface Booking {
    id: string
    links: { cancel: string }
  }
  const first = await api.call<Booking>('POST', path, body())
  booked += 1
  let isStopped = false
  let running: Promise<void> = Promise.resolve()
  async function book(paceMs: number): Promise<void> {
    while (!isStopped) {
      if (booked > OF_THE_PAGE) await api.call('POST', path, body())
      else await bookOnPage(url + path, body())
      booked += 1
      await sleep(paceMs)
    }
  }

  return {
    known: { slug: SLUG, bookingId: first.id },
    attack(paceMs) {
      running = book(paceMs)
      running.catch(() => {})
    },
    async stop(smtp) {
      isStopped = true
      await running
      const { pathname, search } = new URL(first.links.cancel)
      expect((await fetch(url + pathname + search, { headers: { accept: 'text/html' } })).status).toBe(200)
      return { booked, messages: await expectNoCannon(smtp) }
    },
  }
}

async function bookOnPage(address: string, body: unknown): Promise<void> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })
  expect([response.status, await response.text()]).toEqual([201, expect.anything()])
}

async function expectNoCannon(smtp: SmtpSink): Promise<number> {
  const sentTo = (name: string) => smtp.messages.filter(({ to }) => to.some((email) => email.startsWith(name)))
  expect(sentTo('bystander')).toEqual([])
  const messages = sentTo('victim')
  expect(messages.length).toBeLessThanOrEqual(MAX_MESSAGES)
  for (const { raw } of messages) {
    const { subject, from, to, text, html, attachments } = await PostalMime.parse(raw)
    const files = attachments.map(({ content }) => Buffer.from(content as ArrayBuffer).toString())
    expect(JSON.stringify([subject, from, to, text, html, files])).not.toMatch(/evil/i)
  }
  return messages.length
}
