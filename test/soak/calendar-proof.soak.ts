import { expect, inject, it } from 'vitest'
import { random } from '../kit/random/random.ts'
import { formatReport, proveCalendars } from '../scenarios/calendar-proof.ts'

const CALENDARS = 1000
const SHOWN = 5

it(`finds the instances, busy times and slots of ${CALENDARS} calendars that python-dateutil finds`, async () => {
  const proof = await proveCalendars(random(), CALENDARS)
  console.log(formatReport(proof))
  const others = proof.unknown.slice(SHOWN).map((text) => text.split('\n', 1)[0])
  const found = [...proof.unknown.slice(0, SHOWN), ...others].join('\n\n')
  expect(proof.unknown.length, `TEST_SEED=${inject('seed')}\n${found}`).toBe(0)
})
