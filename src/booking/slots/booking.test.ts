import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Api, api } from '../../../test/kit/http/http.ts'
import { fc } from '../../../test/kit/random/random.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const FIRST_MS = Math.ceil(Date.now() / DAY_MS + 2) * DAY_MS
const range = { start: new Date(FIRST_MS).toISOString(), end: new Date(FIRST_MS + 2 * DAY_MS).toISOString() }
const guest = { email: 'lin@northwind.example', name: 'Lin Duarte' }

let service: Service
let owner: Api
beforeAll(async () => {
  service = await startService()
  owner = api(service.url, service.key)
})
afterAll(() => service.stop())

it('can be booked over the API exactly when listed, until no slot is left', async () => {
  let slugs = 0
  const minutes = fc.integer({ min: 0, max: 45 })
  const availability = fc.record({
    openHours: fc.constant([
      { days: [0, 1, 2, 3, 4, 5, 6], start: '08:00', end: '10:00' },
      { days: [0, 1, 2, 3, 4, 5, 6], start: '09:50', end: '11:00' },
    ]),
    bufferBeforeMinutes: minutes,
    bufferAfterMinutes: minutes,
    durationMinutes: fc.integer({ min: 15, max: 60 }),
    intervalMinutes: fc.integer({ min: 5, max: 40 }),
    maximumPerDay: fc.integer({ min: 1, max: 4 }),
  })
  const choices = fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 10, maxLength: 10 })
  const property = fc.asyncProperty(availability, choices, async (rules, numbers) => {
    slugs += 1
    const slug = `call-${slugs}`
    const experience = { slug, name: 'Call', timezone: 'Europe/Berlin', availability: rules }
    expect((await owner.post('/scheduler/experiences', experience)).status).toBe(201)
    const path = `/scheduler/experiences/${slug}`
    const list = async (): Promise<string[]> => {
      const { status, json } = await owner.post(`${path}/availability`, {
        range,
        durationMinutes: rules.durationMinutes,
      })
      expect(status).toBe(200)
      return json.slots.map(({ start }: { start: string }) => start)
    }
    const all = await list()
    for (const [index, number] of numbers.entries()) {
      const listed = await list()
      const taken = all.filter((start) => !listed.includes(start))
      const other = taken[Math.floor(number * taken.length)]
      if (other !== undefined) {
        const refused = await owner.post(`${path}/bookings`, { slot: { start: other }, guest })
        expect([refused.status, refused.json.error?.code]).toEqual([409, 'slot_unavailable'])
      }
      const start = listed[Math.floor(number * listed.length)]
      if (start === undefined) break
      const hold = index % 2 === 0 ? await owner.post(`${path}/holds`, { slot: { start } }) : undefined
      if (hold !== undefined) expect([hold.status, await list()]).toEqual([200, expect.not.arrayContaining([start])])
      const body = hold === undefined ? { slot: { start }, guest } : { holdId: hold.json.id, slot: { start }, guest }
      expect((await owner.post(`${path}/bookings`, body)).status).toBe(201)
    }
    expect(taken(all, await list())).toBeGreaterThan(0)
  })
  await fc.assert(property, { numRuns: 5 })
})

function taken(before: readonly string[], after: readonly string[]): number {
  return before.filter((start) => !after.includes(start)).length
}
