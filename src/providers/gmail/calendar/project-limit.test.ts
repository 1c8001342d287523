import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { googleLimits } from '../../../../test/servers/google/limits.ts'
import { CALENDAR_SCOPES, type Google, startGoogle } from '../../../../test/servers/google.ts'
import { fixedClock } from '../../../platform/time/clock.ts'
import { gmailProvider } from '../index.ts'

const LIMIT = 20
const USERS = Array.from({ length: 8 }, (_, index) => `user-${index}@acme.example`)
const signal = new AbortController().signal

let google: Google
let clock: ReturnType<typeof fixedClock>
let provider: ReturnType<typeof gmailProvider>
beforeEach(async () => {
  clock = fixedClock(Date.now())
  google = await startGoogle({ now: clock.monotonic })
  google.limits.enforce(googleLimits(() => 1, { calendarOfProject: LIMIT }))
  provider = gmailProvider({ apiUrl: google.url, clock, limits: { calendarProjectRequests: LIMIT } })
})
afterEach(async () => {
  await provider.mail.closeConnections()
  await google.close()
})

async function openCalendars(user: string, project: string) {
  google.addUser(user)
  const { accessToken } = await google.grant(user, CALENDAR_SCOPES)
  const settings = { google: { project } }
  const access = { accountId: user, email: user, settings, secrets: {}, accessToken: async () => accessToken }
  return provider.calendar.open(access)
}

it('shares the limit of a project between all of its mailboxes, and no other', async () => {
  const opened = await Promise.all(USERS.map((user) => openCalendars(user, 'acme-mail.iam.gserviceaccount.com')))
  const listing = opened.flatMap((account) => [1, 2, 3].map(() => account.listCalendars(signal)))
  const listed = () => google.calls.all.filter(({ endpoint }) => endpoint.includes('/calendarList')).length
  // A tenth is left to API callers.
  await eventually(() => expect(listed()).toBe(LIMIT * 0.9))
  const other = await openCalendars('eve@other.example', 'other-mail.iam.gserviceaccount.com')
  google.limits.enforce([])
  await other.listCalendars(signal)
  expect(listed()).toBe(LIMIT * 0.9 + 1)
  expect(google.limits.refused).toEqual([])
  clock.advance(60_200)
  for (const user of USERS) provider.mail.endPause(user)
  await Promise.all(listing)
})
