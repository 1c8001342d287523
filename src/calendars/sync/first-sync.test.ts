import { expect, it } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { ALL } from '../../../test/kit/calendars/scripted-calendar.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { random as randomNumbers } from '../../../test/kit/random/random.ts'
import { catalogue } from '../../app/feature-list.ts'
import { recorder } from '../../events/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { systemClock } from '../../platform/time/clock.ts'
import {
  type CalendarAccount,
  type EventStep,
  ProviderError,
  type RemoteEvent,
} from '../../providers/contract/index.ts'
import { calendarStore } from '../store.ts'
import { syncCalendars } from './account.ts'

const EVENTS = 2600
const PER_STEP = 100
/** After how many steps the runs are interrupted, before and after the cursor was stored. */
const RUNS = [{ interruptedAfter: [] }, { interruptedAfter: [12, 23, 2] }]
const today = new Date().toISOString().slice(0, 10)

const CALENDAR = {
  calendarId: 'work',
  summary: 'Work',
  description: '',
  timeZone: 'UTC',
  primary: true,
  selected: true,
  backgroundColor: null,
  foregroundColor: null,
  role: 'owner',
} as const

/** Every tenth is a series of thirty days; the next step brings an exception for it, which moves its second day. */
const buildEvent = (n: number): RemoteEvent => ({
  eventId: `event-${n}`,
  iCalUid: `event-${n}`,
  etag: null,
  status: 'confirmed',
  summary: `${n}`,
  description: '',
  location: '',
  busy: true,
  visibility: 'default',
  organizer: null,
  attendees: [],
  start: { dateTime: `${today}T09:00:00`, timeZone: 'UTC' },
  end: { dateTime: `${today}T10:00:00`, timeZone: 'UTC' },
  recurrence: n % 10 === 0 ? ['RRULE:FREQ=DAILY;COUNT=30'] : [],
  recurringEventId: null,
  originalStart: null,
  conference: null,
  reminders: [],
  htmlLink: null,
  createdAt: null,
  updatedAt: null,
})
const secondDay = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10)
const buildException = (n: number): RemoteEvent => ({
  ...buildEvent(n),
  eventId: `event-${n}-moved`,
  recurrence: [],
  recurringEventId: `event-${n}`,
  originalStart: { dateTime: `${secondDay}T09:00:00`, timeZone: 'UTC' },
  start: { dateTime: `${secondDay}T12:00:00`, timeZone: 'UTC' },
  end: { dateTime: `${secondDay}T13:00:00`, timeZone: 'UTC' },
})

describeEachDatabase('a first sync of a calendar', (open) => {
  it.each(RUNS)(
    'stores every instance once, interrupted after $interruptedAfter steps',
    async ({ interruptedAfter }) => {
      const db = await open()
      const { link, bus } = testAccounts(db)
      const { id: accountId } = await link()
      const clock = systemClock
      const ids = idGenerator(clock)
      const random = randomNumbers()

      /** Goes on after the cursor, and fails after a few steps. */
      let interruptions = 0
      const remote: CalendarAccount = {
        listCalendars: async () => [CALENDAR],
        async *syncEvents({ cursor }): AsyncGenerator<EventStep> {
          const steps = (interruptedAfter[interruptions] ?? EVENTS) + Math.floor(random() * 3)
          for (let at = Number(cursor ?? 0), step = 0; at < EVENTS + PER_STEP; at += PER_STEP, step += 1) {
            if (step === steps) {
              interruptions += 1
              throw new Error('interrupted')
            }
            const numbers = Array.from({ length: PER_STEP }, (_, index) => at + index)
            // First, so that a series changes at once after its instances were inserted.
            const found = [
              ...numbers.flatMap((n) => (n >= PER_STEP && n % 10 === 0 ? buildException(n - PER_STEP) : [])),
              ...numbers.filter((n) => n < EVENTS).map(buildEvent),
            ]
            yield { found, entered: [], complete: [], removed: [], cursor: `${at + PER_STEP}` }
          }
        },
        readRange: async () => [],
      }
      const deps = {
        db,
        clock,
        ids,
        events: recorder({ catalogue, clock, ids, bus }),
        fence: async () => {},
        sharedFence: async () => {},
        windowMonths: [1, 12] as const,
      }
      const { signal } = new AbortController()
      const sync = () => syncCalendars(deps, { accountId, epoch: 1, provider: 'gmail', remote, signal }, ALL)
      for (const _ of interruptedAfter) await expect(sync()).rejects.toThrow('interrupted')
      await sync()

      const [calendar] = await calendarStore(db.read).all(accountId)
      expect(calendar?.cursor).toBe(`${EVENTS + PER_STEP}`)
      const stored = await db.read
        .selectFrom('calendarInstances as i')
        .innerJoin('calendarEvents as e', 'e.id', 'i.eventId')
        .select(['e.providerId', 'i.startMs'])
        .execute()
      const found = stored.map(({ providerId, startMs }) => `${providerId} ${new Date(startMs).toISOString()}`).sort()
      const series = (n: number) =>
        Array.from({ length: 30 }, (_, day) =>
          day === 1
            ? `event-${n}-moved ${secondDay}T12:00:00.000Z`
            : `event-${n} ${new Date(Date.parse(`${today}T09:00:00Z`) + day * 86_400_000).toISOString()}`,
        )
      const expected = Array.from({ length: EVENTS }, (_, n) =>
        n % 10 === 0 ? series(n) : [`event-${n} ${today}T09:00:00.000Z`],
      ).flat()
      expect(found).toEqual(expected.sort())
    },
  )

  it.each([
    { title: 'before its first cursor', steps: 5 },
    { title: 'after a cursor that expires', steps: 25 },
  ])('forgets what was deleted while it was interrupted $title', async ({ steps }) => {
    const db = await open()
    const { link, bus } = testAccounts(db)
    const { id: accountId } = await link()
    const ids = idGenerator(systemClock)
    let isFirstRun = true
    const remote: CalendarAccount = {
      listCalendars: async () => [CALENDAR],
      async *syncEvents({ cursor }): AsyncGenerator<EventStep> {
        if (cursor !== null) throw new ProviderError('cursor_expired', 'all events must be read again')
        const existing = Array.from({ length: EVENTS }, (_, n) => n).filter((n) => isFirstRun || n !== 3)
        for (let at = 0, step = 0; at < EVENTS; at += PER_STEP, step += 1) {
          if (isFirstRun && step === steps) throw new Error('interrupted')
          const found = existing.slice(at, at + PER_STEP).map(buildEvent)
          yield { found, entered: [], complete: [], removed: [], cursor: 'a token' }
        }
      },
      readRange: async () => [],
    }
    const deps = {
      db,
      clock: systemClock,
      ids,
      events: recorder({ catalogue, clock: systemClock, ids, bus }),
      fence: async () => {},
      sharedFence: async () => {},
      windowMonths: [1, 12] as const,
    }
    const { signal } = new AbortController()
    const sync = () => syncCalendars(deps, { accountId, epoch: 1, provider: 'imap', remote, signal }, ALL)
    await expect(sync()).rejects.toThrow('interrupted')
    isFirstRun = false
    await sync()

    const stored = await db.read.selectFrom('calendarEvents').select('providerId').execute()
    expect(stored).toHaveLength(EVENTS - 1)
    expect(stored.map(({ providerId }) => providerId)).not.toContain('event-3')
    const announced = await db.read.selectFrom('events').select('type').where('type', 'like', 'calendar.%').execute()
    expect(announced).toEqual([])
  })
})
