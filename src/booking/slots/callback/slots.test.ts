import { describe, expect, it } from 'vitest'
import {
  at,
  availability,
  GENERATED,
  json,
  lastBody,
  NOW,
  RANGE,
  serveCallbacks,
  slot,
} from '../../../../test/kit/booking/callbacks.ts'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { fc } from '../../../../test/kit/random/random.ts'
import { type ReceiverResponse, startReceiver } from '../../../../test/servers/receiver.ts'
import type { Slot } from '../../contract.ts'

const open = databases('sqlite')
const serve = async (changes = {}) => serveCallbacks(await open(), changes)
const listWithKey = (call: Awaited<ReturnType<typeof serve>>['call']) =>
  call('POST', '/scheduler/experiences/intro-call/availability', { range: RANGE, durationMinutes: 30 })

describe('the availability callback', () => {
  it('gets every lookup, signed, and its slots are listed in order and once', async () => {
    const { list, receiver, secret, call } = await serve({ metadata: { team: 'sales' } })
    const host = { participants: ['ada', { id: 7 }], metadata: { accountId: 'x', own: [1] } }
    receiver.always(
      json(
        availability(
          [
            slot('10:00', '10:30', { timezone: 'Europe/Paris', ...host }),
            slot('09:00', '09:30'),
            slot('09:00', '09:30', { metadata: { second: true } }),
            { start: '2026-11-24T12:30:00+02:00', end: '2026-11-24T13:00:00+02:00', metadata: null, own: 1 },
            // Outside of the range, in part.
            slot('22:45', '23:15'),
            { start: '2026-11-30T10:00:00Z', end: '2026-11-30T10:30:00Z' },
          ],
          { expiresAt: '2026-11-23T09:05:00+01:00', timezone: 'Europe/London' },
        ),
      ),
    )
    const body = {
      intervalMinutes: 15,
      timezone: 'Asia/Tokyo',
      attendees: [{ email: 'bob@example.com', own: 1 }],
      bookingFormResponse: { topic: 'a' },
      constraints: { floor: 2 },
      metadata: { source: 'site' },
    }
    const { status, json: found } = await list(body, { 'x-request-id': 'req-of-guest' })
    expect(status).toBe(200)
    const token = expect.stringMatching(/^\d+\.[\w-]{43}$/)
    const rest = { timezone: 'Europe/London', participants: [], metadata: {}, token }
    expect(found).toEqual({
      experience: { slug: 'intro-call', name: 'Intro call', timezone: 'Europe/Berlin' },
      generatedAt: GENERATED,
      expiresAt: '2026-11-23T08:05:00.000Z',
      timezone: 'Europe/London',
      slots: [
        { start: '2026-11-24T09:00:00.000Z', end: '2026-11-24T09:30:00.000Z', ...rest },
        {
          start: '2026-11-24T10:00:00.000Z',
          end: '2026-11-24T10:30:00.000Z',
          ...rest,
          ...host,
          timezone: 'Europe/Paris',
        },
        { start: '2026-11-24T10:30:00.000Z', end: '2026-11-24T11:00:00.000Z', ...rest },
      ],
    })
    const [request] = receiver.requests
    expect(request).toMatchObject({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-own': 'own',
        'user-agent': 'Ours',
        'x-request-id': 'req-of-guest',
        'webhook-id': expect.stringMatching(/^req_/),
        'webhook-timestamp': String(NOW / 1000),
      },
    })
    expect(lastBody(receiver.requests)).toEqual({
      experience: {
        id: expect.stringMatching(/^exp_/),
        slug: 'intro-call',
        name: 'Intro call',
        description: '',
        timezone: 'Europe/Berlin',
        defaultAccountIds: [],
        availability: null,
        metadata: { team: 'sales' },
      },
      request: {
        range: { start: '2026-11-23T23:00:00.000Z', end: '2026-11-24T23:00:00.000Z', timezone: 'Asia/Tokyo' },
        durationMinutes: 30,
        ...body,
      },
    })
    await list()
    expect(receiver.requests).toHaveLength(2)
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
    // The clock of the test is fixed, and the libraries refuse old timestamps.
    expect(() => receiver.verify(secret)).toThrow(/too old|timestamp/i)
    expect((await call('GET', '/scheduler/experiences')).text).not.toContain(secret)
  })

  const LONG = availability(Array.from({ length: 5001 }, (_, index) => slot('09:00', '09:30', { metadata: { index } })))
  const WRONG: [what: string, response: ReceiverResponse, status: number, logged: RegExp][] = [
    ['nothing', { status: 200 }, 502, /must be a JSON object/],
    ['no generatedAt', json({ slots: [] }), 502, /generatedAt is required/],
    ['a wrong generatedAt', json({ generatedAt: 'now', slots: [] }), 502, /generatedAt must be an RFC 3339 time/],
    ['no slots', json({ generatedAt: GENERATED }), 502, /slots must be a list/],
    ['a slot without end', json(availability([{ start: at('09:00') }])), 502, /slots\.0\.end is required/],
    ['a slot that ends at its start', json(availability([slot('09:00', '09:00')])), 502, /slots\.0\.end must be later/],
    [
      'an unknown zone',
      json(availability([slot('09:00', '09:30', { timezone: 'Nowhere' })])),
      502,
      /slots\.0\.timezone/,
    ],
    [
      'a slot with large metadata',
      json(availability([slot('09:00', '09:30', { metadata: { text: 'x'.repeat(17_000) } })])),
      502,
      /16 KB/,
    ],
    ['too many slots', json(LONG), 502, /at most 5000/],
    ['a list', json([]), 502, /must be a JSON object/],
    ['no JSON', { status: 200, body: '<html>secret page</html>' }, 502, /not valid JSON/],
    ['deep JSON', { status: 200, body: `${'['.repeat(500)}${']'.repeat(500)}` }, 502, /levels deep/],
    ['many values', { status: 200, body: `[${'1,'.repeat(200_000)}1]` }, 502, /values/],
    ['more than 1 MB', { status: 200, body: 'x'.repeat(1_100_000) }, 502, /larger than 1 MB/],
    ['201', json(availability([]), 201), 502, /returned 201/],
    ['409', json(availability([]), 409), 502, /returned 409/],
    ['500', json({ slots: [] }, 500), 502, /returned 500/],
    ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 502, /Redirects are not followed/],
    ['a closed connection', 'reset', 502, /closed/],
  ]
  it.each(WRONG)(
    'that returns %s is an error of the application, with a log line',
    async (_what, response, status, logged) => {
      const { list, call, receiver, warnings, entries } = await serve()
      receiver.always(response)
      const received = await list()
      const code = status === 504 ? 'callback_timeout' : 'callback_failed'
      expect([received.status, received.json.error]).toMatchObject([status, { code, type: 'callback' }])
      const lines = warnings().filter((line) => line.includes('callback'))
      expect(lines).toEqual([
        expect.stringMatching(/^The availability callback of the experience "intro-call" failed: /),
      ])
      expect(lines[0]).toMatch(logged)
      expect(JSON.stringify(entries)).not.toMatch(/whsec_|secret page|"own"/)
      // The application reads the same sentence in the response, a guest does not.
      const [detail] = (await listWithKey(call)).json.error.details
      const { path, message } = detail
      const member = path.replace(/^callback\.availability\.?/, '')
      expect(lines[0]?.endsWith(member === '' ? message : `${member} ${message}`)).toBe(true)
      expect(received.json.error.details).toEqual(member === 'generatedAt' ? [detail] : [])
      expect(received.text).not.toMatch(/\d{3}\.|slots\.|larger|JSON|closed/)
    },
  )

  it('without generatedAt is named to the guest too', async () => {
    const { list, receiver } = await serve()
    receiver.always(json({ slots: [] }))
    expect((await list()).json.error).toMatchObject({
      message: 'generatedAt is required',
      details: [{ path: 'callback.availability.generatedAt', message: 'is required' }],
    })
  })

  it('is explained to a caller with a key, and to nobody else', async () => {
    const { list, call, receiver } = await serve()
    receiver.always(json(availability([{ start: at('09:00') }])))
    expect((await listWithKey(call)).json.error.details).toEqual([
      { path: 'callback.availability.slots.0.end', message: 'is required' },
    ])
    receiver.always(json({}, 500))
    expect((await listWithKey(call)).json.error.details).toEqual([
      { path: 'callback.availability', message: 'The endpoint returned 500.' },
    ])
    for (const headers of [{}, { accept: 'application/problem+json' }]) {
      const { status, text } = await list({}, headers)
      expect([status, text]).toEqual([502, expect.not.stringContaining('500')])
    }
    const wrong = await list({}, { authorization: 'Bearer wrong' })
    expect([wrong.status, wrong.text]).toEqual([401, expect.not.stringContaining('500')])
  })

  it('that is late or gone is an error that shows guests nothing of the network', async () => {
    const { list, receiver, call, warnings } = await serve()
    receiver.always('stall')
    const [late, own] = [list(), listWithKey(call)]
    const other = await serve({ availabilityEndpoint: { url: 'https://not-there.invalid/x' } })
    const gone = await other.list()
    expect([gone.status, gone.json.error.message]).toEqual([502, expect.not.stringContaining('not-there')])
    expect(other.warnings().join()).toContain('The host name does not resolve.')
    const { status, json: body } = await late
    expect([status, body.error.code, body.error.details]).toEqual([504, 'callback_timeout', []])
    const message = 'No complete response arrived within 10 seconds.'
    expect((await own).json.error.details).toEqual([{ path: 'callback.availability', message }])
    expect(warnings().join()).toContain('within 10 seconds')
    await call('PATCH', '/scheduler/experiences/intro-call', { isActive: false })
    expect((await list()).status).toBe(404)
  })

  it('is not asked for requests that are not valid', async () => {
    const { list, receiver } = await serve()
    const wrong: [path: string, body: Record<string, unknown>][] = [
      ['range', { range: undefined }],
      ['range.start', { range: { ...RANGE, start: '2026-11-24' } }],
      ['range.end', { range: { ...RANGE, end: RANGE.start } }],
      ['range.end', { range: { ...RANGE, end: '2027-01-26T00:00:00Z' } }],
      ['range.timezone', { range: { ...RANGE, timezone: 'Nowhere' } }],
      ['timezone', { timezone: 'Nowhere' }],
      ['range.start', { range: { ...RANGE, start: '2026-02-30T00:00:00Z' } }],
      ['durationMinutes', { durationMinutes: 4.99 }],
      ['durationMinutes', { durationMinutes: '30' }],
      ['intervalMinutes', { intervalMinutes: 4 }],
      ['attendees.0', { attendees: ['bob'] }],
      ['bookingFormResponse', { bookingFormResponse: [] }],
    ]
    for (const [path, body] of wrong) {
      const { status, json: refused } = await list(body)
      expect([status, refused.error.details[0].path]).toEqual([400, `body.${path}`])
    }
    expect((await list({ metadata: { text: 'x'.repeat(66_000) } })).status).toBe(413)
    expect(receiver.requests).toEqual([])
  })

  it('is asked or not, whatever a guest sends', async () => {
    const { call, receiver } = await serve()
    receiver.always(json(availability([])))
    const text = fc.string({ unit: 'binary', maxLength: 20 })
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), text, fc.double())
    const time = fc.oneof(fc.constantFrom(RANGE.start, RANGE.end, '0000-01-01T00:00:00Z'), value)
    const names = ['attendees', 'bookingFormResponse', 'constraints', 'metadata', 'timezone', 'intervalMinutes']
    const body = fc
      .tuple(
        fc.oneof(fc.record({ start: time, end: time }), fc.constant(RANGE), value),
        fc.oneof(fc.integer({ min: 0, max: 2000 }), value),
        fc.dictionary(fc.constantFrom(...names, '__proto__', 'constructor'), value),
      )
      .map(([range, durationMinutes, rest]) => ({ range, durationMinutes, ...rest }))
    await fc.assert(
      fc.asyncProperty(body, async (body) => {
        const path = '/scheduler/experiences/intro-call/availability'
        const { status, json: found, text: shown } = await call('POST', path, body)
        expect([200, 400], `${JSON.stringify(body)} → ${shown}`).toContain(status)
        expect(status === 200 ? found.slots : found.error.details[0].path).toBeTruthy()
      }),
      { numRuns: 150 },
    )
  })
})

describe('a slot of a callback', () => {
  const LISTED = slot('09:00', '09:30', {
    metadata: { accountId: 'acc_unknown', office: 'blue' },
    participants: ['ada'],
  })
  const toChoice = ({ start, end, ...rest }: Record<string, string>) => ({
    start: Date.parse(start ?? ''),
    end: Date.parse(end ?? ''),
    ...rest,
  })

  it('is bookable with its token, without asking again', async () => {
    const { list, check, receiver, clock, account, call } = await serve()
    const [ada, bob] = [await account(), await account()]
    await call('PATCH', '/scheduler/experiences/intro-call', {
      defaultAccountIds: [ada, bob],
      availability: { assignment: 'round_robin' },
    })
    const withHost = slot('10:00', '10:30', { metadata: { accountId: bob } })
    receiver.always(json(availability([LISTED, withHost], { expiresAt: '2026-11-23T08:03:00Z' })))
    const [listed, hosted] = (await list()).json.slots
    const { participants, metadata } = LISTED as unknown as Slot
    expect(await check(toChoice(listed))).toEqual({
      slot: { ...toChoice(LISTED as never), participants, metadata, timezone: 'Europe/Berlin' },
      take: 'one',
      candidates: [ada, bob],
    })
    expect(await check(toChoice(hosted))).toMatchObject({ take: 'every', candidates: [bob] })
    // The order of members says nothing.
    const { accountId, office } = listed.metadata
    await check({ ...toChoice(listed), metadata: { office, accountId } })
    expect(receiver.requests).toHaveLength(1)
    clock.advance(3 * 60_000)
    await check(toChoice(listed))
    expect(receiver.requests).toHaveLength(2)
  })

  it('is not listed while another booking or hold takes its hosts', async () => {
    const { list, receiver, clock, account, call, db } = await serve()
    const [ada, bob] = [await account(), await account()]
    const times = [
      ['09:00', '09:30'],
      ['10:00', '10:30'],
    ] as const
    const byHost = (accountId?: string) => times.map(([start, end]) => slot(start, end, { metadata: { accountId } }))
    const block = (ownerId: string, hostId: string, expiresAt: number | null) => ({
      ownerId,
      hostId,
      experienceId: 'exp_other',
      day: '2026-11-24',
      expiresAt,
      startMs: Date.parse(at('09:30')),
      endMs: Date.parse(at('09:45')),
      blockedFrom: Date.parse(at('09:20')),
      blockedTo: Date.parse(at('09:45')),
    })
    await db.transaction((tx) =>
      tx
        .insertInto('bookingBlocks')
        .values([block('bkg_1', ada, null), block('hld_1', bob, clock.now() + 1000)])
        .execute(),
    )
    const starts = async () =>
      (await list()).json.slots.map(({ start }: { start: string }) => start.slice(11, 16)) as string[]
    const offer = (slots: unknown) => receiver.always(json(availability(slots)))
    offer(byHost(ada))
    expect(await starts()).toEqual(['10:00'])
    offer(byHost())
    expect(await starts()).toEqual(['09:00', '10:00'])
    const hosts = (assignment: string) =>
      call('PATCH', '/scheduler/experiences/intro-call', {
        defaultAccountIds: [ada, bob],
        availability: { assignment },
      })
    await hosts('round_robin')
    expect(await starts()).toEqual(['10:00'])
    clock.advance(1000)
    expect(await starts()).toEqual(['09:00', '10:00'])
    await hosts('collective')
    expect(await starts()).toEqual(['10:00'])
  })

  it('is asked for again when the token does not fit, and takes nothing from the guest', async () => {
    const { list, check, receiver, experience } = await serve()
    receiver.always(json(availability([LISTED])))
    const [listed] = (await list()).json.slots
    const own = await experience()
    const forged = [
      { ...listed, metadata: { ...listed.metadata, accountId: own.id } },
      { ...listed, participants: ['eve'] },
      { ...listed, token: `9${listed.token}` },
      { ...listed, token: 'x' },
      { start: listed.start },
    ]
    for (const [index, choice] of forged.entries()) {
      const { end: _end, ...startOnly } = toChoice(choice)
      const { slot: taken, candidates } = await check('end' in choice ? toChoice(choice) : startOnly)
      expect(taken).toMatchObject({ participants: LISTED.participants, metadata: LISTED.metadata })
      expect(candidates).toEqual([own.id])
      expect(receiver.requests).toHaveLength(index + 2)
      expect(lastBody(receiver.requests).request).toMatchObject({
        range: { start: '2026-11-24T09:00:00.000Z', end: '2026-11-24T09:30:00.000Z' },
        durationMinutes: 30,
      })
    }
    const others = [
      slot('09:00', '10:00'),
      slot('08:00', '08:30'),
      { start: '2026-11-23T07:00:00Z', end: '2026-11-23T07:30:00Z' },
    ]
    for (const other of others) {
      await expect(check(toChoice(other as never))).rejects.toMatchObject({ code: 'slot_unavailable' })
    }
    receiver.always(json(availability([])))
    await expect(check({ start: Date.parse(at('09:00')) })).rejects.toMatchObject({ code: 'slot_unavailable' })
  })
})

describe('routing', () => {
  const FORM = {
    fields: [
      {
        name: 'topic',
        label: 'Topic',
        type: 'multiselect',
        options: ['a', 'b', 'c', 'd'].map((value) => ({ value, label: value })),
      },
      { name: 'vip', label: 'VIP', type: 'checkbox' },
    ],
  }

  it('follows the endpoint: other hosts, another experience, or a page', async () => {
    const { list, check, receiver, account, call, warnings } = await serve({
      routingEndpoint: { url: 'http://127.0.0.1:9/' },
    })
    const host = await account()
    const routing = closing(await startReceiver())
    await call('PATCH', '/scheduler/experiences/intro-call', { routingEndpoint: { url: routing.url } })
    receiver.always(json(availability([slot('09:00', '09:30')])))
    await list()
    expect(routing.requests).toEqual([])
    const answers = { bookingFormResponse: { topic: ['a'] }, metadata: { source: 'site' } }
    routing.always(json({ accountIds: [host, host] }))
    await list(answers)
    expect(lastBody(routing.requests).request).toEqual({
      responses: { topic: ['a'] },
      guest: null,
      metadata: { source: 'site' },
    })
    expect(lastBody(receiver.requests).experience.defaultAccountIds).toEqual([host])
    const choice = { start: Date.parse(at('09:00')) }
    const booking = { responses: { topic: ['a'] }, guest: { email: 'eve@example.com' } }
    expect(await check(choice, booking)).toMatchObject({ take: 'every', candidates: [host] })
    expect(lastBody(routing.requests).request).toEqual({ ...booking, metadata: {} })

    routing.always(json({ redirectUrl: 'https://shop.example.com/call us' }))
    expect((await list(answers)).json).toMatchObject({ slots: [], redirectUrl: 'https://shop.example.com/call%20us' })
    const redirected = check(choice, booking)
    await expect(redirected).rejects.toMatchObject({
      code: 'redirected',
      redirectUrl: 'https://shop.example.com/call%20us',
    })

    await call('POST', '/scheduler/experiences', {
      slug: 'other-call',
      name: 'Other',
      availabilityEndpoint: { url: receiver.url },
    })
    routing.always(json({ slug: 'other-call' }))
    expect((await list(answers)).json).toMatchObject({ experience: { slug: 'other-call' }, slots: [{}] })
    await expect(check(choice, booking)).rejects.toMatchObject({
      redirectUrl: expect.stringMatching(/\/book\/other-call$/),
    })
    routing.always({ status: 204 })
    expect((await list(answers)).json.experience.slug).toBe('intro-call')

    for (const wrong of [
      { accountIds: ['acc_none'] },
      { slug: 'no-call' },
      { redirectUrl: 'javascript:alert(1)' },
      { accountIds: [] },
    ]) {
      routing.always(json(wrong))
      expect((await list(answers)).json.error).toMatchObject({ code: 'callback_failed' })
    }
    expect(warnings().filter((line) => line.includes('"intro-call"'))).toHaveLength(4)
  })

  it('follows the first rule of the form that matches', async () => {
    const { list, receiver, account, call } = await serve()
    const host = await account()
    await call('PATCH', '/scheduler/experiences/intro-call', {
      bookingForm: {
        ...FORM,
        routing: [
          { when: { field: 'vip', equals: true }, accountIds: [host] },
          { when: { field: 'topic', in: ['b', 'c'] }, redirectUrl: 'https://example.com/bc' },
          { when: { field: 'topic', equals: 'b' }, redirectUrl: 'https://example.com/never' },
        ],
      },
    })
    receiver.always(json(availability([slot('09:00', '09:30')])))
    const ask = async (bookingFormResponse: object) => (await list({ bookingFormResponse })).json
    expect(await ask({ topic: ['a', 'b'] })).toMatchObject({ redirectUrl: 'https://example.com/bc', slots: [] })
    expect(receiver.requests).toEqual([])
    expect(await ask({ topic: ['a'], vip: 'true' })).not.toHaveProperty('redirectUrl')
    expect(lastBody(receiver.requests).experience.defaultAccountIds).toEqual([])
    await ask({ topic: ['b'], vip: true })
    expect(lastBody(receiver.requests).experience.defaultAccountIds).toEqual([host])
    for (const odd of [{}, { topic: null }, { topic: { b: 1 } }, { topic: [] }])
      expect((await ask(odd)).slots).toHaveLength(1)
  })
})
