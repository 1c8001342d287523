import { expect, it } from 'vitest'
import { schedulerFixture } from '../../../test/kit/booking/scheduler.ts'
import { databases, describeEachDatabase } from '../../../test/kit/database/database.ts'
import { expectForgeriesRefused } from '../../../test/kit/http/cursors.ts'
import { fc } from '../../../test/kit/random/random.ts'

const PATH = '/scheduler/experiences'
const MINIMAL = { slug: 'intro-call', name: 'Intro call' }
const URL_HERE = 'http://127.0.0.1:9/hook'

const HOURS = { days: [1, 'friday'], start: '09:00', end: '24:00', office: 'Berlin' }
const FIELD = {
  name: 'topic',
  label: 'Topic',
  type: 'select',
  options: [{ value: 'a', label: 'A', hint: 'x' }],
  own: 1,
}

const FULL = {
  ...MINIMAL,
  description: 'Ask us anything.',
  timezone: 'Europe/Berlin',
  isActive: true,
  metadata: { team: 'sales', deep: { list: [1, { two: null }] } },
  availability: {
    timezone: 'America/New_York',
    openHours: [HOURS],
    overrides: [
      { date: '2028-02-29', start: '10:00', end: '12:00' },
      { date: '2026-12-24', closed: true, why: 'holiday' },
    ],
    bufferBeforeMinutes: 5,
    bufferAfterMinutes: 10,
    minimumNoticeMinutes: 60,
    maximumDaysAhead: 30,
    maximumPerDay: 4,
    durationMinutes: 45,
    durations: [15, 45],
    assignment: 'round_robin',
    own: { kept: true },
  },
  availabilityEndpoint: { url: URL_HERE, method: 'PUT', headers: { 'X-Key': 'secret-1' }, own: [1] },
  bookingEndpoint: { url: URL_HERE, secret: 'a secret' },
  routingEndpoint: { url: URL_HERE },
  bookingForm: {
    title: 'Your details',
    description: 'Short.',
    submitButtonLabel: 'Book',
    fields: [FIELD],
    routing: [{ when: { field: 'topic', equals: 'a' }, slug: 'other-call', own: 1 }],
    own: 'x',
  },
  ui: { theme: { color: '#123456' }, layout: 'month', copy: { title: 'Hello' }, own: true },
  allowedOrigins: ['https://app.example.com', 'http://localhost:3000'],
}

const availability = (changes: object) => ({ availability: changes })
const form = (changes: object) => ({ bookingForm: changes })
const field = (changes: object) => form({ fields: [{ ...FIELD, ...changes }] })
const rule = (when: object, to: object) => form({ fields: [FIELD], routing: [{ when, ...to }] })
const endpoint = (changes: object) => ({ routingEndpoint: { url: URL_HERE, ...changes } })

const BAD_INPUT: [path: string, wrong: Record<string, unknown>][] = [
  ['name', { name: undefined }],
  ['name', { name: '' }],
  ['name', { name: ' \u0000' }],
  ['defaultAccountIds', { defaultAccountIds: ['acc_1', 'acc_1'] }],
  ['defaultAccountIds.0', { defaultAccountIds: ['acc_unknown'] }],
  ['defaultAccountIds', { defaultAccountIds: 'acc_1' }],
  ['timezone', { timezone: 'Mars/Olympus' }],
  ['isActive', { isActive: null }],
  ['metadata', { metadata: [] }],
  ['Meta_Data', { Meta_Data: {} }],
  ['availability.timezone', availability({ timezone: 'CEST5' })],
  ['availability.openHours.0.days', availability({ openHours: [{ ...HOURS, days: [] }] })],
  ['availability.openHours.0.days.0', availability({ openHours: [{ ...HOURS, days: ['Someday'] }] })],
  ['availability.openHours.0.days.0', availability({ openHours: [{ ...HOURS, days: [7] }] })],
  ['availability.openHours.0.start', availability({ openHours: [{ ...HOURS, start: '24:00' }] })],
  ['availability.openHours.0.start', availability({ openHours: [{ ...HOURS, start: '9:00' }] })],
  ['availability.openHours.0.end', availability({ openHours: [{ ...HOURS, end: '24:01' }] })],
  ['availability.openHours.0.timezone', availability({ openHours: [{ ...HOURS, timezone: '' }] })],
  ['availability.overrides.0.date', availability({ overrides: [{ date: '2027-02-29', closed: true }] })],
  ['availability.overrides.0.date', availability({ overrides: [{ date: '20270228', closed: true }] })],
  ['availability.overrides.0', availability({ overrides: [{ date: '2027-02-28' }] })],
  ['availability.overrides.0.end', availability({ overrides: [{ date: '2027-02-28', start: '10:00' }] })],
  ['availability.bufferBeforeMinutes', availability({ bufferBeforeMinutes: -1 })],
  ['availability.minimumNoticeMinutes', availability({ minimumNoticeMinutes: 1.5 })],
  ['availability.maximumDaysAhead', availability({ maximumDaysAhead: 0 })],
  ['availability.maximumPerDay', availability({ maximumPerDay: 0 })],
  ['availability.durationMinutes', availability({ durationMinutes: 4 })],
  ['availability.durations', availability({ durations: [15, 15] })],
  ['availability.assignment', availability({ assignment: 'random' })],
  ['availability.weights.acc_1', availability({ weights: { acc_1: 0 } })],
  ['bookingForm.fields.1.name', form({ fields: [FIELD, FIELD] })],
  ['bookingForm.fields.0.name', field({ name: 'constructor' })],
  ['bookingForm.fields.0.type', field({ type: 'date' })],
  ['bookingForm.fields.0.label', field({ label: undefined })],
  ['bookingForm.fields.0.options', field({ options: [] })],
  ['bookingForm.fields.0.options', field({ type: 'multiselect', options: undefined })],
  [
    'bookingForm.fields.0.options.1.value',
    field({
      options: [
        { value: 'a', label: 'A' },
        { value: 'a', label: 'B' },
      ],
    }),
  ],
  ['bookingForm.routing.0.when.field', rule({ field: 'other', equals: 'a' }, { slug: 'abc' })],
  ['bookingForm.routing.0.when', rule({ field: 'topic' }, { slug: 'abc' })],
  ['bookingForm.routing.0', rule({ field: 'topic', equals: 'a' }, { slug: 'abc', accountIds: ['acc_1'] })],
  ['bookingForm.routing.0.slug', rule({ field: 'topic', equals: 'a' }, { slug: 'No Slug' })],
  ['bookingForm.routing.0.redirectUrl', rule({ field: 'topic', in: ['a'] }, { redirectUrl: 'javascript:x' })],
  ['bookingForm.routing.0.accountIds.0', rule({ field: 'topic', in: ['a'] }, { accountIds: ['acc_none'] })],
  ['allowedOrigins.0', { allowedOrigins: ['https://app.example.com/'] }],
  ['allowedOrigins.0', { allowedOrigins: ['https://*.example.com'] }],
  ['allowedOrigins.0', { allowedOrigins: ['HTTPS://app.example.com'] }],
  ['allowedOrigins.0', { allowedOrigins: ['null'] }],
  ['allowedOrigins.1', { allowedOrigins: ['*', '*'] }],
  ['routingEndpoint.url', { routingEndpoint: {} }],
  ['routingEndpoint.url', endpoint({ url: 'ftp://127.0.0.1/' })],
  ['routingEndpoint.url', endpoint({ url: 'https://169.254.169.254/' })],
  ['routingEndpoint.url', endpoint({ url: 'https://a:b@127.0.0.1/' })],
  ['routingEndpoint.method', endpoint({ method: 'GET' })],
  ['routingEndpoint.headers.Host', endpoint({ headers: { Host: 'x' } })],
  ['routingEndpoint.headers.x-a', endpoint({ headers: { 'x-a': '***' } })],
  ['routingEndpoint.secret', endpoint({ secret: '***' })],
  ['routingEndpoint.secret', endpoint({ secret: 'whsec_not*base64' })],
]
const BAD_SLUGS = ['ab', 'x'.repeat(65), 'Intro', 'with space', 'a_b', '', 5]

describeEachDatabase('experiences', (open) => {
  it('are created with defaults; the callback secret is returned once', async () => {
    const { call } = schedulerFixture(await open())
    const { status, json } = await call('POST', PATH, MINIMAL)
    expect(status).toBe(201)
    const { callbackSecret, ...shown } = json
    expect(callbackSecret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
    expect(shown).toEqual({
      ...MINIMAL,
      id: expect.stringMatching(/^exp_/),
      description: '',
      timezone: 'UTC',
      isActive: true,
      defaultAccountIds: [],
      metadata: {},
      availability: null,
      availabilityEndpoint: null,
      bookingEndpoint: null,
      routingEndpoint: null,
      bookingForm: null,
      ui: null,
      allowedOrigins: [],
      bookingUrl: expect.stringMatching(/\/book\/intro-call$/),
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
    expect((await call('GET', `${PATH}/intro-call`)).json).toEqual(shown)
    expect((await call('GET', PATH)).json).toEqual({
      experiences: [shown],
      pagination: { page: 1, limit: 50, total: 1, totalPages: 1, hasNext: false, hasPrev: false },
    })
    const taken = await call('POST', PATH, { ...MINIMAL, name: 'Other' })
    expect([taken.status, taken.json.error.code]).toEqual([409, 'conflict'])
    const { isActive: _active, ...optional } = FULL
    const nulls = Object.fromEntries(Object.keys(optional).map((name) => [name, null]))
    expect((await call('POST', PATH, { ...nulls, ...MINIMAL, slug: 'cleared' })).json).toMatchObject({
      ...shown,
      ...IGNORED,
      slug: 'cleared',
    })
  })

  it('keep unknown nested members, and mask header values and secrets', async () => {
    const { call, account, db } = schedulerFixture(await open())
    const hosts = [await account(), await account()]
    const definition = {
      ...FULL,
      defaultAccountIds: hosts,
      availability: { ...FULL.availability, weights: { [hosts[0] ?? '']: 0.5 } },
    }
    const { status, json, text } = await call('POST', PATH, definition)
    expect([status, status === 201 ? '' : text]).toEqual([201, ''])
    const masked = {
      ...definition,
      availabilityEndpoint: { ...definition.availabilityEndpoint, headers: { 'X-Key': '***' } },
      bookingEndpoint: { url: URL_HERE, headers: {}, secret: '***' },
      routingEndpoint: { url: URL_HERE, headers: {} },
    }
    expect(json).toMatchObject(masked)
    const read = (await call('GET', `${PATH}/intro-call`)).json
    expect(read).toEqual({ ...masked, id: json.id, bookingUrl: expect.any(String), ...TIMES })
    const stored = JSON.stringify(await db.read.selectFrom('experiences').selectAll().execute())
    expect(stored).not.toMatch(/secret-1|a secret|whsec_/)
  })

  it('change as PATCH says: absent stays, null clears, nested objects are replaced, masks keep what is stored', async () => {
    const { call, features } = schedulerFixture(await open())
    const created = (await call('POST', PATH, FULL)).json
    const path = `${PATH}/intro-call`
    const { callbackSecret, ...before } = created
    expect((await call('PATCH', path)).json).toEqual({ ...before, ...TIMES })
    // A client writes back what it read.
    expect((await call('PATCH', path, before)).json).toEqual({ ...before, ...TIMES })
    const secrets = async () => (await features.scheduler.experiences.getActive('intro-call')).secrets
    expect(await secrets()).toEqual({
      callbackSecret,
      endpoints: {
        availability: { headers: { 'X-Key': 'secret-1' }, secret: null },
        booking: { headers: {}, secret: 'a secret' },
        routing: { headers: {}, secret: null },
      },
    })
    const changes = {
      name: 'New',
      ui: { theme: 'dark' },
      availability: null,
      metadata: null,
      timezone: null,
      allowedOrigins: ['*'],
      routingEndpoint: null,
      bookingEndpoint: { url: 'https://not-yet.invalid/x' },
      availabilityEndpoint: { url: URL_HERE, headers: { 'x-key': '***', 'X-New': 'secret-2' } },
    }
    const { json } = await call('PATCH', path, changes)
    expect(json).toEqual({
      ...before,
      ...changes,
      metadata: {},
      timezone: 'UTC',
      description: FULL.description,
      ...TIMES,
      bookingEndpoint: { ...changes.bookingEndpoint, headers: {} },
      availabilityEndpoint: { url: URL_HERE, headers: { 'x-key': '***', 'X-New': '***' } },
    })
    expect((await secrets()).endpoints).toEqual({
      availability: { headers: { 'x-key': 'secret-1', 'X-New': 'secret-2' }, secret: null },
      booking: { headers: {}, secret: null },
    })
    expect((await call('PATCH', path, { slug: 'another' })).json.slug).toBe('intro-call')
  })

  it('keep the id of a deleted account that is a host, but accept no new one', async () => {
    const { call, account, db } = schedulerFixture(await open())
    const [kept, gone] = [await account(), await account()]
    await call('POST', PATH, { ...MINIMAL, defaultAccountIds: [kept, gone] })
    await db.transaction((tx) => tx.deleteFrom('accounts').where('id', '=', gone).execute())
    const written = await call('PATCH', `${PATH}/intro-call`, { defaultAccountIds: [gone, kept] })
    expect(written.json.defaultAccountIds).toEqual([gone, kept])
    expect((await call('POST', PATH, { ...MINIMAL, slug: 'new', defaultAccountIds: [gone] })).status).toBe(400)
  })

  it('refuse bad input with the path of each fault', async () => {
    const { call, db } = schedulerFixture(await open())
    await call('POST', PATH, MINIMAL)
    for (const [path, wrong] of BAD_INPUT) {
      const requests = [await call('POST', PATH, { ...MINIMAL, slug: 'next', ...wrong })]
      if (!('name' in wrong && wrong.name === undefined)) {
        requests.push(await call('PATCH', `${PATH}/intro-call`, wrong))
      }
      for (const { status, json } of requests) {
        expect([status, json.error?.details?.[0]?.path, wrong]).toEqual([400, `body.${path}`, wrong])
      }
    }
    for (const slug of BAD_SLUGS) {
      const { status, json } = await call('POST', PATH, { ...MINIMAL, slug })
      expect([status, json.error.details[0].path, slug]).toEqual([400, 'body.slug', slug])
    }
    const large = { metadata: { text: 'x'.repeat(66_000) } }
    for (const { status, json } of [
      await call('POST', PATH, { ...MINIMAL, slug: 'next', ...large }),
      await call('PATCH', `${PATH}/intro-call`, large),
    ]) {
      expect([status, json.error.details]).toEqual([400, [{ path: 'body', message: expect.stringContaining('64 KB') }]])
    }
    expect(await db.read.selectFrom('experiences').select('slug').execute()).toEqual([{ slug: 'intro-call' }])
  })

  it('are paged, oldest first', async () => {
    const { call } = schedulerFixture(await open())
    for (const slug of ['ccc', 'aaa', 'bbb']) await call('POST', PATH, { ...MINIMAL, slug })
    const slugs = ({ json }: { json: { experiences: { slug: string }[] } }) => json.experiences.map(({ slug }) => slug)
    const first = await call('GET', `${PATH}?limit=2`)
    expect([slugs(first), first.json.pagination]).toMatchObject([['ccc', 'aaa'], { total: 3, hasNext: true }])
    const { nextCursor } = first.json.pagination
    const second = await call('GET', `${PATH}?limit=2&cursor=${nextCursor}`)
    expect([slugs(second), second.json.pagination.hasNext]).toEqual([['bbb'], false])
    expect(slugs(await call('GET', `${PATH}?limit=2&page=2`))).toEqual(['bbb'])
  })

  it('need a key, except for what guests may know of an active one', async () => {
    const { call, visit, account } = schedulerFixture(await open())
    await call('POST', PATH, FULL)
    for (const [method, url] of [
      ['GET', PATH],
      ['POST', PATH],
      ['PATCH', `${PATH}/intro-call`],
    ] as const) {
      expect((await visit(method, url, method === 'GET' ? undefined : {})).status).toBe(401)
      const reader = await visit(method, url, method === 'GET' ? undefined : {}, { authorization: 'Bearer reader' })
      expect(reader.status).toBe(method === 'GET' ? 200 : 403)
    }
    const { routing: _routing, ...publicForm } = FULL.bookingForm
    const { status, json } = await visit('GET', `${PATH}/intro-call`)
    expect([status, json]).toEqual([
      200,
      {
        ...MINIMAL,
        description: FULL.description,
        timezone: FULL.timezone,
        bookingForm: publicForm,
        ui: FULL.ui,
        durationMinutes: 45,
        durations: [15, 45],
        sendsMessages: null,
      },
    ])
    await call('POST', PATH, { slug: 'bare-call', name: 'Bare call' })
    expect((await visit('GET', `${PATH}/bare-call`)).json.sendsMessages).toBe(false)
    await call('PATCH', `${PATH}/bare-call`, { defaultAccountIds: [await account()] })
    expect((await visit('GET', `${PATH}/bare-call`)).json.sendsMessages).toBe(true)
    const wrong = await visit('GET', `${PATH}/intro-call`, undefined, { authorization: 'Bearer wrong' })
    expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([401, expect.stringContaining('invalid_token')])
    await call('PATCH', `${PATH}/intro-call`, { isActive: false })
    const inactive = await visit('GET', `${PATH}/intro-call`)
    const unknown = await visit('GET', `${PATH}/unknown-call`)
    expect([inactive.status, unknown.status]).toEqual([404, 404])
    expect(inactive.json.error.message.replace('intro', 'unknown')).toBe(unknown.json.error.message)
    expect((await call('GET', `${PATH}/intro-call`)).json.isActive).toBe(false)
    expect((await call('GET', `${PATH}/unknown-call`)).status).toBe(404)
    expect((await call('PATCH', `${PATH}/unknown-call`, {})).status).toBe(404)
  })
})

const TIMES = { createdAt: expect.any(String), updatedAt: expect.any(String) }
const IGNORED = { id: expect.any(String), bookingUrl: expect.any(String), ...TIMES }

const open = databases('sqlite')

it('lets pages of the allowed origins read public responses, errors too, and no others', async () => {
  const { call, visit, app } = schedulerFixture(await open())
  const origin = 'https://app.example.com'
  await call('POST', PATH, { ...MINIMAL, allowedOrigins: [origin] })
  const path = `${PATH}/intro-call`
  const preflight = (from: string) =>
    visit('OPTIONS', path, undefined, { origin: from, 'access-control-request-method': 'GET' })
  const allowed = await preflight(origin)
  expect([allowed.status, allowed.text]).toEqual([204, ''])
  expect(allowed.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET',
    'access-control-allow-headers': expect.stringContaining('content-type'),
    vary: 'Origin',
  })
  const read = await visit('GET', path, undefined, { origin })
  expect(read.headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' })
  for (const other of ['https://evil.example.com', 'https://app.example.com.evil.org', 'null', `${origin}:443`]) {
    for (const { headers } of [await preflight(other), await visit('GET', path, undefined, { origin: other })]) {
      expect(headers).not.toHaveProperty('access-control-allow-origin')
      expect(headers.vary).toBe('Origin')
    }
  }
  for (const { headers } of [read, allowed]) expect(headers).not.toHaveProperty('access-control-allow-credentials')
  const refused = await visit('GET', path, undefined, { origin, authorization: 'Bearer wrong' })
  expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, origin])
  // Keyed routes have none.
  const keyed = await call('GET', PATH, undefined, { origin })
  expect(JSON.stringify(keyed.headers)).not.toMatch(/access-control|origin/i)
  const patch = await call('PATCH', path, { allowedOrigins: ['*'] }, { origin })
  expect(patch.headers).not.toHaveProperty('access-control-allow-origin')
  expect((await preflight('https://any.example')).headers['access-control-allow-origin']).toBe('*')
  await call('PATCH', path, { isActive: false })
  expect((await preflight('https://any.example')).headers).not.toHaveProperty('access-control-allow-origin')
  expect((await app.inject({ method: 'PUT', url: path })).headers.allow).toContain('OPTIONS')
})

it('limits guests per address, and the application not at all', async () => {
  const { call, visit } = schedulerFixture(await open())
  await call('POST', PATH, MINIMAL)
  let last = await visit('GET', `${PATH}/intro-call`)
  for (let count = 1; count <= 300; count += 1) last = await visit('GET', `${PATH}/intro-call`)
  expect([last.status, last.json.error.code]).toEqual([429, 'rate_limited'])
  const own = await call('GET', `${PATH}/intro-call`)
  expect([own.status, own.headers['ratelimit-limit']]).toEqual([200, undefined])
})

it('refuses forged cursors', async () => {
  const { call } = schedulerFixture(await open())
  for (const slug of ['aaa', 'bbb']) await call('POST', PATH, { ...MINIMAL, slug })
  const { pagination } = (await call('GET', `${PATH}?limit=1`)).json
  await expectForgeriesRefused(pagination.nextCursor, async (query) => {
    const { status, json } = await call('GET', `${PATH}?limit=1&${query}`)
    return { status, body: json }
  })
})

const text = fc.string({ unit: 'binary', maxLength: 30 })
const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), text, fc.webUrl(), fc.double())
const members = (names: string[]) => fc.dictionary(fc.constantFrom(...names, '__proto__', 'constructor'), value)
const someBody = fc.record(
  {
    name: fc.oneof(text, value),
    availability: fc.oneof(members(Object.keys(FULL.availability)), value),
    bookingForm: fc.oneof(members(Object.keys(FULL.bookingForm)), value),
    bookingEndpoint: fc.oneof(members(['url', 'method', 'headers', 'secret']), value),
    ui: fc.oneof(members(['theme', 'layout', 'copy']), value),
    metadata: fc.oneof(fc.dictionary(text, value), value),
    allowedOrigins: fc.oneof(fc.array(fc.webUrl()), value),
    timezone: fc.oneof(fc.constantFrom('utc', 'Europe/Berlin', 'GMT+1'), value),
  },
  { requiredKeys: [] },
)

it('accepts any body or refuses it with a reason, and returns what it stored', async () => {
  const { call, visit } = schedulerFixture(await open())
  let created = 0
  await fc.assert(
    fc.asyncProperty(someBody, async (body) => {
      created += 1
      const sent = { ...MINIMAL, slug: `slug-${created}`, ...body }
      const { status, json, text: shown } = await call('POST', PATH, sent)
      expect([201, 400], `${JSON.stringify(body)} → ${shown}`).toContain(status)
      if (status === 400) {
        expect(json.error.details[0].path).toMatch(/^body\./)
        return
      }
      const read = await call('GET', `${PATH}/${sent.slug}`)
      const { callbackSecret: _secret, ...same } = json
      expect(read.json).toEqual(same)
      expect((await call('PATCH', `${PATH}/${sent.slug}`, read.json)).json).toEqual({ ...same, ...TIMES })
      expect((await visit('GET', `${PATH}/${sent.slug}`)).status).toBe(200)
    }),
    { numRuns: 150 },
  )
})
