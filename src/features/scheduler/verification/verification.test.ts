import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database.ts'
import { schedulerFixture } from '../../../../test/kit/scheduler.ts'
import { fixedClock } from '../../../lib/clock.ts'

const PATH = '/scheduler/experiences/intro-call'
const EMAIL = 'grace@example.org'

describeEachDatabase('codes of guests', (open) => {
  async function serve(changes: Record<string, unknown> = {}) {
    const clock = fixedClock(Date.parse('2026-11-23T08:00:00Z'))
    const fixture = schedulerFixture(await open(), { clock })
    const host = await fixture.account()
    const created = await fixture.call('POST', '/scheduler/experiences', {
      ...{ slug: 'intro-call', name: 'Intro call', defaultAccountIds: [host], bookingForm: { verifyEmail: true } },
      ...changes,
    })
    expect(created.status).toBe(201)
    const sent = () => fixture.db.read.selectFrom('outbox').selectAll().orderBy('id').execute()
    return {
      ...{ ...fixture, clock, host, sent },
      request: (body: object = { email: EMAIL }) => fixture.visit('POST', `${PATH}/verification`, body),
      /** Of the latest message. */
      code: async () => (await sent()).at(-1)?.subject.slice(0, 6) ?? '',
      async check(code: string | undefined, email = EMAIL) {
        const { experiences, verification } = fixture.features.scheduler
        return verification.check(await experiences.getActive('intro-call'), email, code)
      },
    }
  }
  const refused = (message: RegExp) => ({
    ...{
      code: 'validation_failed',
      details: [{ path: 'body.verificationCode', message: expect.stringMatching(message) }],
    },
  })

  it('are sent from the host, valid for 10 minutes, and stored as hashes', async () => {
    const { request, sent, code, check, clock, host, db } = await serve()
    const { status, json } = await request({ email: `  ${EMAIL.toUpperCase()} ` })
    expect([status, json]).toEqual([
      200,
      { success: true, message: expect.any(String), expiresAt: '2026-11-23T08:10:00.000Z' },
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
    await expect(check(await code(), 'eve@example.org')).rejects.toMatchObject(refused(/has expired/))
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

  it('are limited per address of the guest', async () => {
    const { request, sent } = await serve()
    const statuses = []
    for (let count = 0; count < 6; count += 1) statuses.push((await request()).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    expect((await request({ email: 'eve@example.org' })).status).toBe(200)
    expect(await sent()).toHaveLength(6)
  })
})
