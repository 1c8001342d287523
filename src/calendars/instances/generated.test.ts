import { expect, inject, it } from 'vitest'
import { random } from '../../../test/kit/random/random.ts'
import { proveCalendars } from '../../../test/scenarios/calendar-proof.ts'

const CALENDARS = 40

it(`finds the instances, busy times and slots of ${CALENDARS} generated calendars that python-dateutil finds`, async () => {
  const { unknown, instances } = await proveCalendars(random(), CALENDARS)
  expect(unknown.slice(0, 3).join('\n\n'), `TEST_SEED=${inject('seed')}`).toBe('')
  expect(instances).toBeGreaterThan(100)
})
