import { expect, it } from 'vitest'
import { schedulerFixture } from '../../../test/kit/booking/scheduler.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { fixedClock } from '../../platform/time/clock.ts'

const PATH = '/scheduler/experiences/intro-call'
const EMAIL = 'grace@example.org'
/** The address of the clients in these tests. */
const CLIENT = '127.0.0.1'
const SLOT = '2026-11-24T09:00:00.000Z'

interface CheckOptions {
  email?: string
  client?: string
  verificationId?: string
}

describeEachDatabase('codes of guests', (open) => {
  async function serve(changes: Record<string, unknown> = {}) {
    const clock = fixedClock(Date.parse('2026-11-23T08:00:00Z'))
    const fixture = schedulerFixture(await open(), { clock })
    const host = await fixture.account()
    const created = await fixture.call('POST', '/scheduler/experiences', {
      slug: 'intro-call',
      name: 'Intro call',
      defaultAccountIds: [host],
      bookingForm: { verifyEmail: true },
      availability: { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }] },
      ...changes,
    })
    expect(created.status).toBe(201)
    const sent = () => fixture.db.read.selectFrom('outbox').selectAll().orderBy('id').execute()
    return {
      ...fixture,
      clock,
      host,
      sent,
      request: (body: object = { email: EMAIL }) => fixture.visit('POST', `${PATH}/verification`, body),
      /** The latest message's code. */
      code: async () => (await sent()).at(-1)?.subject.slice(0, 6) ?? '',
      async check(code: string | undefined, { email = EMAIL, ...fields }: CheckOptions = {}) {
        const { experiences, verification } = fixture.features.scheduler
        const { client = CLIENT, verificationId } = fields
        return verification.check(await experiences.getActive('intro-call'), email, { code, client, verificationId })
      },
      book: (body: object) =>
        fixture.visit('POST', `${PATH}/bookings`, { slot: { start: SLOT }, guest: { email: EMAIL }, ...body }),
    }
  }
  const refused = (message: RegExp) => ({
    code: 'validation_failed',
    details: [{ path: 'body.verificationCode', message: expect.stringMatching(message) }],
  })

  it('prove an address whose local part has other letters', async () => {
    const { request, code, book } = await serve()
    const email = 'jörg.müller@example.org'
    const { verificationId } = (await request({ email })).json
    const guest = { email, name: 'Jörg Müller' }
    const made = await book({ guest, verificationId, verificationCode: await code() })
    expect([made.status, made.json]).toMatchObject([201, { guestVerified: true, guest }])
  })

  it('are sent from the host, valid for 10 minutes, and stored as hashes', async () => {
    const { request, sent, code, check, clock, host, db } = await serve()
    const { status, json } = await request({ email: `  ${EMAIL.toUpperCase()} ` })
    expect([status, json]).toEqual([
      200,
      {
        success: true,
        message: expect.any(String),
        verificationId: expect.any(String),
        expiresAt: '2026-11-23T08:10:00.000Z',
      },
    ])
    const [row] = await sent()
    expect(row).toMatchObject({
      accountId: host,
      subject: expect.stringMatching(/^\d{6} is your code for “Intro call”$/),
    })
    expect(JSON.parse(row?.envelope ?? '')).toMatchObject({ to: [{ email: expect.stringMatching(/^grace@/i) }] })
    const stored = JSON.stringify(await db.read.selectFrom('bookingCodes').selectAll().execute())
    expect(stored).not.toMatch(new RegExp(`${await code()}|grace`, 'i'))
    await check(` ${await code()}`)
    await expect(check(await code(), { email: 'eve@example.org' })).rejects.toMatchObject(refused(/has expired/))
    clock.advance(10 * 60_000 - 1)
    await check(await code())
    clock.advance(1)
    await expect(check(await code())).rejects.toMatchObject(refused(/has expired/))
  })

  it('end with the next code, and after 5 wrong attempts', async () => {
    const { request, code, check } = await serve()
    await request()
    const first = await code()
    await request()
    const second = await code()
    if (first !== second) await expect(check(first)).rejects.toMatchObject(refused(/is not the code/))
    await check(second)
    await request()
    const third = await code()
    const wrong = third === '000000' ? '000001' : '000000'
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => check(wrong)))
    expect(attempts.map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
    await expect(check(third)).rejects.toMatchObject(refused(/has expired/))
    for (const none of [undefined, '', ' ']) await expect(check(none)).rejects.toMatchObject(refused(/is required/))
  })

  it('are not asked for by other experiences, and refuse bad requests', async () => {
    const { request, call, check, sent } = await serve()
    for (const [path, body] of [
      ['email', {}],
      ['email', { email: 'nobody' }],
      ['email', { email: `${EMAIL}, eve@example.org` }],
      ['email', { email: `${EMAIL}\r\nBcc: eve@example.org` }],
      ['website', { email: EMAIL, website: 'https://spam.example' }],
    ] as const) {
      const { status, json } = await request(body)
      expect([status, json.error.details[0].path]).toEqual([400, `body.${path}`])
    }
    await call('PATCH', PATH, { bookingForm: { verifyEmail: false } })
    expect((await request()).status).toBe(400)
    await check(undefined)
    await call('PATCH', PATH, { bookingForm: { verifyEmail: true }, defaultAccountIds: [] })
    expect((await request()).status).toBe(409)
    await call('PATCH', PATH, { isActive: false })
    expect((await request()).status).toBe(404)
    expect(await sent()).toEqual([])
  })

  it('belong to the request that asked for them: strangers can neither use up, nor replace, nor guess them', async () => {
    const { request, code, check } = await serve()
    const { verificationId } = (await request()).json
    const own = await code()
    const stranger = { client: '203.0.113.7' }
    for (let count = 0; count < 8; count += 1) {
      // Also the right one is of no use without the id, from another client.
      await expect(check(own, stranger)).rejects.toMatchObject(refused(/has expired/))
      await expect(check('000000', { ...stranger, verificationId: `guessed-${count}` })).rejects.toMatchObject(
        refused(/has expired/),
      )
    }
    // Somebody behind the same router asks for a code, and enters wrong ones.
    await request()
    const other = await code()
    const wrong = ['000000', '000001', '000002'].find((candidate) => candidate !== own && candidate !== other)
    for (let count = 0; count < 6; count += 1) await expect(check(wrong)).rejects.toThrow()
    expect(await check(own, { verificationId })).toEqual(expect.any(String))
    // Guests change their network while they look for the code.
    expect(await check(own, { verificationId, client: '198.51.100.1' })).toEqual(expect.any(String))
    for (let count = 0; count < 5; count += 1) {
      await expect(check(wrong, { verificationId })).rejects.toMatchObject(refused(/is not the code/))
    }
    await expect(check(own, { verificationId })).rejects.toMatchObject(refused(/has expired/))
  })

  it('prove an address in any spelling that is sent to the same mailbox', async () => {
    const { request, code, check, sent } = await serve()
    for (const email of [
      'GRACE@EXAMPLE.ORG',
      '"grace"@example.org',
      'gra\u00ADce@exam\u00ADple.org',
      'grace\u200B@example.org',
      'ｇｒａｃｅ@ｅｘａｍｐｌｅ．ｏｒｇ',
    ]) {
      const { status, json } = await request({ email })
      expect([email, status]).toEqual([email, 200])
      const envelope = JSON.parse((await sent()).at(-1)?.envelope ?? '')
      expect(envelope.to[0].email.toLowerCase()).toBe(EMAIL)
      await check(await code(), { verificationId: json.verificationId })
    }
    // One mailbox, one counter: all of these were five messages to it.
    expect((await request({ email: 'grace+shop@example.org' })).json.error).toMatchObject({ code: 'mail_limited' })
    for (const email of ['grace(comment)@example.org', 'grace@example.org.', '<grace@example.org>']) {
      expect([email, (await request({ email })).status]).toEqual([email, 400])
    }
  })

  it('are used by one booking, also of two at the same time, and kept when the booking fails', async () => {
    const { request, code, book, call } = await serve()
    const { verificationId } = (await request()).json
    const proof = { verificationCode: await code(), verificationId }
    expect(
      (await call('POST', `${PATH}/bookings`, { slot: { start: SLOT }, guest: { email: 'k@x.example' } })).status,
    ).toBe(201)
    expect((await book(proof)).json.error.code).toBe('slot_unavailable')
    const times = ['10', '11', '12'].map((hour) => ({ slot: { start: `2026-11-24T${hour}:00:00.000Z` } }))
    const made = await Promise.all(times.map((slot) => book({ ...proof, ...slot })))
    expect(made.map(({ status }) => status).sort()).toEqual([201, 400, 400])
    const refusal = made.find(({ status }) => status === 400)
    expect(refusal?.json.error.details[0]).toMatchObject({ path: 'body.verificationCode' })
    expect((await book({ ...proof, slot: { start: '2026-11-24T13:00:00.000Z' } })).status).toBe(400)
    expect(made.find(({ status }) => status === 201)?.json).toMatchObject({ guestVerified: true })
  })

  it('are limited per address of the guest', async () => {
    const { request, sent } = await serve()
    const statuses = []
    for (let count = 0; count < 6; count += 1) statuses.push((await request()).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    const refusal = await request()
    expect(refusal.json.error).toMatchObject({ code: 'mail_limited', message: expect.stringContaining('This address') })
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(86_000)
    expect((await request({ email: 'eve@example.org' })).status).toBe(200)
    expect(await sent()).toHaveLength(6)
  })
})
