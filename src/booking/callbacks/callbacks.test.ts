import { describe, expect, it } from 'vitest'
import { at, availability, json, serveCallbacks } from '../../../test/kit/booking/callbacks.ts'
import { schedulerFixture } from '../../../test/kit/booking/scheduler.ts'
import { closing } from '../../../test/kit/closing.ts'
import { databases } from '../../../test/kit/database/database.ts'
import { DENIED_HOSTS } from '../../../test/kit/http/denied-hosts.ts'
import { type ReceiverResponse, startReceiver, verifyWith } from '../../../test/servers/receiver.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { BookingRequest, Slot } from '../contract.ts'

const open = databases('sqlite')
const serve = async (changes = {}) => serveCallbacks(await open(), changes)

describe('the booking callback', () => {
  const SLOT: Slot = {
    start: Date.parse(at('09:00')),
    end: Date.parse(at('09:30')),
    timezone: 'Europe/Berlin',
    participants: ['ada'],
    metadata: { office: 'blue' },
  }
  const REQUEST: BookingRequest = {
    bookingId: 'bkg_1',
    slot: SLOT,
    guest: { email: 'eve@example.com' },
    attendees: [],
    responses: { topic: 'a' },
    metadata: { source: 'site' },
    requestId: 'req-of-guest',
  }
  const book = async (served: Awaited<ReturnType<typeof serve>>, request = REQUEST) =>
    served.features.scheduler.callbacks.book(await served.experience(), request, new AbortController().signal)

  it('gets the booking, and its id as the id of the request', async () => {
    const served = await serve()
    const { receiver } = served
    receiver.always(
      json({ status: 'confirmed', eventId: 'e1', joinUrl: 'https://meet.example.com/1', metadata: { own: 1 } }, 201),
    )
    expect(await book(served)).toEqual({
      kind: 'confirmed',
      eventId: 'e1',
      joinUrl: 'https://meet.example.com/1',
      metadata: { own: 1 },
    })
    const previousSlot = { ...SLOT, start: SLOT.start - 3_600_000, end: SLOT.end - 3_600_000 }
    await book(served, { ...REQUEST, previousSlot })
    const [created, moved] = receiver.requests
    expect(created).toMatchObject({
      method: 'PUT',
      headers: { 'webhook-id': 'bkg_1', 'x-request-id': 'req-of-guest' },
    })
    expect(JSON.parse(created?.body ?? '')).toMatchObject({
      experience: { slug: 'intro-call', timezone: 'Europe/Berlin' },
      request: {
        bookingId: 'bkg_1',
        guest: REQUEST.guest,
        attendees: [],
        responses: { topic: 'a' },
        slot: { ...SLOT, start: '2026-11-24T09:00:00.000Z', end: '2026-11-24T09:30:00.000Z' },
        metadata: { source: 'site' },
      },
    })
    expect(created?.body).not.toContain('req-of-guest')
    expect(moved?.headers['webhook-id']).not.toBe('bkg_1')
    expect(JSON.parse(moved?.body ?? '').request.previousSlot.start).toBe('2026-11-24T08:00:00.000Z')
    expect(await book(await serve({ bookingEndpoint: null }))).toBeUndefined()
  })

  const DECISIONS: [what: string, response: ReceiverResponse, decision: object][] = [
    ['nothing', { status: 204 }, { kind: 'confirmed', eventId: null, joinUrl: null, metadata: null }],
    ['an empty object', json({}), { kind: 'confirmed' }],
    ['a guest whom the application knows', json({ guestVerified: true }), { kind: 'confirmed', guestVerified: true }],
    ['a text about the guest', json({ guestVerified: 'yes' }), { kind: 'failed', code: 'callback_failed' }],
    ['409', json({ message: ' Taken \n meanwhile. ' }, 409), { kind: 'refused', reason: 'Taken meanwhile.' }],
    ['409 and a page', { status: 409, body: '<html>' }, { kind: 'refused', reason: null }],
    ['a rejection', json({ status: 'rejected', message: 'No.' }), { kind: 'refused', reason: 'No.' }],
    ['a rejection without a reason', json({ status: 'rejected' }), { kind: 'refused', reason: null }],
    ['a request for time', json({ status: 'pending' }), { kind: 'pending' }],
    ['another status', json({ status: 'maybe' }), { kind: 'failed', code: 'callback_failed' }],
    ['a script as joinUrl', json({ joinUrl: 'javascript:x' }), { kind: 'failed' }],
    ['a number as eventId', json({ eventId: 5 }), { kind: 'failed' }],
    ['a list as metadata', json({ metadata: [] }), { kind: 'failed' }],
    ['large metadata', json({ metadata: { text: 'x'.repeat(17_000) } }), { kind: 'failed' }],
    ['400', json({}, 400), { kind: 'failed', code: 'callback_failed', reason: 'The endpoint returned 400.' }],
    ['503', json({}, 503), { kind: 'failed', code: 'callback_failed' }],
    ['no JSON', { status: 200, body: 'ok' }, { kind: 'failed', code: 'callback_failed' }],
    ['half a response', 'reset', { kind: 'failed', code: 'callback_failed' }],
  ]
  it.each(DECISIONS)('that returns %s decides', async (_what, response, decision) => {
    const served = await serve()
    served.receiver.always(response)
    expect(await book(served)).toMatchObject(decision)
    const lines = served.warnings().filter((line) => line.startsWith('The booking callback of the experience'))
    expect(lines).toHaveLength('kind' in decision && decision.kind === 'failed' ? 1 : 0)
  })
})

it('signs so that the published libraries verify each request, with the secret of the endpoint before the general one', async () => {
  const receiver = closing(await startReceiver())
  const booking = closing(await startReceiver())
  const fixture = schedulerFixture(await open(), { clock: systemClock })
  const { json: created } = await fixture.call('POST', '/scheduler/experiences', {
    slug: 'intro-call',
    name: 'Rendez-vous “Grüße, 東京”',
    availabilityEndpoint: { url: receiver.url },
    bookingEndpoint: { url: booking.url, secret: 'plain secret' },
  })
  const body = { range: { start: '2030-01-01T00:00:00Z', end: '2030-01-02T00:00:00Z' }, durationMinutes: 30 }
  receiver.always(json(availability([])))
  await fixture.visit('POST', '/scheduler/experiences/intro-call/availability', body)
  const { scheduler } = fixture.features
  const experience = await scheduler.experiences.getActive('intro-call')
  const request = { bookingId: 'bkg_1', guest: {}, attendees: [], responses: {}, metadata: {}, slot: NO_SLOT }
  await scheduler.callbacks.book(experience, request, new AbortController().signal)
  receiver.verify(created.callbackSecret)
  booking.verify('plain secret')
  const [sent] = booking.requests
  if (sent === undefined) throw new Error('nothing was sent')
  expect(() => verifyWith('standardwebhooks', created.callbackSecret, sent)).toThrow()
  expect(() =>
    verifyWith('standardwebhooks', 'plain secret', { ...sent, body: sent.body.replace('bkg_1', 'bkg_2') }),
  ).toThrow()
})

const NO_SLOT: Slot = { start: 0, end: 1, timezone: 'UTC', participants: [], metadata: {} }

it('never contacts a denied address, at creation and when a name changes its address later', async () => {
  const fixture = schedulerFixture(await open(), { privateTargets: 'none' })
  const receiver = closing(await startReceiver())
  const { port } = new URL(receiver.url)
  const create = (url: string) =>
    fixture.call('POST', '/scheduler/experiences', { slug: 'intro-call', name: 'x', availabilityEndpoint: { url } })
  for (const host of DENIED_HOSTS) {
    for (const scheme of ['http', 'https']) {
      const { status, json: refused } = await create(`${scheme}://${host}:${port}/hook`)
      expect([host, status, refused.error.details[0].path]).toEqual([host, 400, 'body.availabilityEndpoint.url'])
    }
  }
  await create('https://not-there-yet.invalid/')
  for (const host of DENIED_HOSTS) {
    const url = `http://${host}:${port}/hook`
    await fixture.db.transaction(async (tx) => {
      const { definition } = await tx.selectFrom('experiences').select('definition').executeTakeFirstOrThrow()
      const changed = { ...JSON.parse(definition) }
      changed.endpoints.availability = { url }
      await tx
        .updateTable('experiences')
        .set({ definition: JSON.stringify(changed) })
        .execute()
    })
    const { callbacks, experiences } = fixture.features.scheduler
    const asked = callbacks.findSlots(
      await experiences.getActive('intro-call'),
      { range: { from: 0, to: 1 }, durationMinutes: 30 },
      new AbortController().signal,
    )
    await expect(asked, host).rejects.toBeInstanceOf(AppError)
  }
  expect(receiver.requests).toEqual([])
})
