import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Api, api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, type Google, startGoogle } from '../../../test/servers/google.ts'
import type { LogEntry } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'

const USER = 'ann@gmail.test'
const TEAM = 'team@group.calendar.google.com'

interface Failure {
  since: string
  attempts: number
  nextAttemptAt: string
}

describeOneDatabase('a failing calendar', 'sqlite', (open) => {
  let google: Google
  let service: Service | undefined
  beforeEach(async () => {
    google = await startGoogle()
    google.addUser(USER)
    google.calendars.add(USER, { id: TEAM, summary: 'Team' })
  })
  afterEach(async () => {
    await service?.stop()
    await google.close()
  })

  /** How often the events of a calendar were requested. */
  const reads = (calendar: string) =>
    google.calls.all.filter(({ path }) => path.includes(`/calendars/${encodeURIComponent(calendar)}/events?`)).length
  const readFailure = async (owner: Api, id: string): Promise<Failure> => {
    const { calendars } = (await owner.get(`/accounts/${id}/calendars`)).json
    return calendars.find(({ providerId }: { providerId: string }) => providerId === TEAM).failure
  }

  it('waits longer with each failure and after a restart, and is a rarer warning', async () => {
    // The clock does not advance, so that no pause ends while the service restarts.
    let nowMs = Date.now()
    const clock = { ...systemClock, now: () => nowMs }
    const place = await open.place()
    const log: LogEntry[] = []
    const start = async () => {
      const environment = { ...google.settings, LOG_LEVEL: 'info' }
      service = await startService({ place, clock, environment, output: (entry) => log.push(entry) })
      return api(service.url, service.key)
    }
    let owner = await start()
    google.calendars.refuse(USER, TEAM, { as: 'server-error' })
    const { refreshToken } = await google.grant(USER, [...GOOGLE_SCOPES, ...CALENDAR_SCOPES])
    const { id } = (await owner.post('/accounts', { provider: 'gmail', email: USER, refreshToken })).json
    const pauses: number[] = []
    let since: string | undefined
    for (let attempts = 1; attempts <= 4; attempts += 1) {
      const failure = await eventually(async () => {
        const found = await readFailure(owner, id)
        expect(found?.attempts).toBe(attempts)
        return found
      })
      since ??= failure.since
      expect(failure.since).toBe(since)
      pauses.push(Date.parse(failure.nextAttemptAt) - nowMs)

      // The others are read after each restart, this one is not.
      await service?.stop()
      const before = { own: reads(USER), team: reads(TEAM) }
      owner = await start()
      await eventually(() => expect(reads(USER)).toBeGreaterThan(before.own))
      await owner.get(`/accounts/${id}/calendars`)
      expect([reads(TEAM), (await readFailure(owner, id)).attempts]).toEqual([before.team, attempts])

      await service?.stop()
      nowMs = Date.parse(failure.nextAttemptAt) + 1
      owner = await start()
    }
    // Half of each pause is random.
    expect((pauses[3] ?? 0) > (pauses[0] ?? 0)).toBe(true)
    // Warnings grow rare, but do not end.
    const failures = log.filter(({ message }) => message.startsWith('Cannot sync the calendar "Team"'))
    expect(failures.slice(0, 4).map(({ level }) => level)).toEqual(['warn', 'warn', 'info', 'warn'])

    google.calendars.refuse(USER, TEAM, null)
    await owner.post(`/accounts/${id}/sync`)
    await eventually(async () => expect(await readFailure(owner, id)).toBeNull())
  })
})
