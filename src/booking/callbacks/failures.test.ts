import { describe, expect, it } from 'vitest'
import { at, availability, json, RANGE, serveCallbacks, slot } from '../../../test/kit/booking/callbacks.ts'
import { closing } from '../../../test/kit/closing.ts'
import { databases } from '../../../test/kit/database/database.ts'
import { type ReceiverResponse, startReceiver } from '../../../test/servers/receiver.ts'

const open = databases('sqlite')
const PATH = '/scheduler/experiences/intro-call'
const GUEST = { email: 'grace@example.org', name: 'Grace' }
const FAILED = "The application's endpoint returned an invalid response."

describe('a callback that fails', () => {
  /** Slots from the application, which decides about bookings at another endpoint. */
  async function serve(changes: Record<string, unknown> = {}) {
    const booking = closing(await startReceiver())
    const served = await serveCallbacks(await open(), { bookingEndpoint: { url: booking.url }, ...changes })
    const times = ['09:00', '10:00', '11:00', '12:00']
    served.receiver.always(json(availability(times.map((time) => slot(time, `${time.slice(0, 2)}:30`)))))
    return { ...served, booking }
  }

  const FAILURES: [what: string, response: ReceiverResponse, path: string, message: string][] = [
    ['an error', { status: 500, body: 'secret page' }, 'callback.booking', 'The endpoint returned 500.'],
    ['a page', { status: 200, body: '<html>secret page' }, 'callback.booking', 'The response is not valid JSON.'],
    ['a list', json(['secret']), 'callback.booking', 'The response must be a JSON object.'],
    ['a script', json({ joinUrl: 'secret:x' }), 'callback.booking.joinUrl', 'must be an http or https URL'],
    ['a status', json({ status: 'secret' }), 'callback.booking.status', 'must be confirmed, rejected or pending'],
  ]
  it.each(FAILURES)(
    'with %s says so to the application, and nothing to a guest',
    async (_what, response, path, message) => {
      const { call, visit, booking } = await serve()
      const chosen = { guest: GUEST, slot: { start: at('09:00') } }
      const moved = { guest: GUEST, slot: { start: at('10:00') } }
      const made = (await visit('POST', `${PATH}/bookings`, moved)).json
      booking.always(response)
      const token = new URL(made.links.reschedule).searchParams.get('token')
      const move = `/scheduler/bookings/${made.id}/reschedule`
      for (const [url, body] of [
        [`${PATH}/bookings`, chosen],
        [move, { slot: { start: at('11:00') } }],
      ] as const) {
        const own = await call('POST', url, body)
        expect([own.status, own.json.error.code, own.json.error.details]).toEqual([
          502,
          'callback_failed',
          [{ path, message }],
        ])
        const { status, json: refused, text } = await visit('POST', url, { ...body, token })
        expect([status, refused.error]).toMatchObject([502, { message: FAILED, details: [] }])
        expect(own.text + text).not.toContain('secret')
        expect(text).not.toMatch(/500|JSON|joinUrl/)
      }
      expect((await call('GET', `/scheduler/bookings/${made.id}`)).json).toMatchObject({ status: 'confirmed' })
    },
  )

  it('is a routing that leads nowhere, and names the member', async () => {
    const routing = closing(await startReceiver())
    const { call, visit } = await serve({ routingEndpoint: { url: routing.url } })
    const body = { range: RANGE, durationMinutes: 30, bookingFormResponse: {} }
    for (const [response, detail] of [
      [
        json({ slug: 'secret-call' }),
        { path: 'callback.routing.slug', message: 'is not the slug of an active experience' },
      ],
      [
        json({ accountIds: ['secret'] }),
        { path: 'callback.routing.accountIds', message: 'contains an id that no account has' },
      ],
      [
        json({ redirectUrl: 'secret:' }),
        { path: 'callback.routing.redirectUrl', message: 'must be an http or https URL' },
      ],
      [json({}, 404), { path: 'callback.routing', message: 'The endpoint returned 404.' }],
    ] as const) {
      routing.always(response)
      const own = await call('POST', `${PATH}/availability`, body)
      expect([own.status, own.json.error.details]).toEqual([502, [detail]])
      const { status, json: refused, text } = await visit('POST', `${PATH}/availability`, body)
      expect([status, refused.error.details]).toEqual([502, []])
      expect(own.text + text).not.toContain('secret')
    }
  })
})
