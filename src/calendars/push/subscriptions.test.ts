import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { googleCalendars } from '../../../test/servers/google-calendars.ts'
import { fence } from '../../accounts/cluster/index.ts'
import { type Account, OwnershipLost } from '../../accounts/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { silentLog } from '../../platform/log/index.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import type { RemoteCalendar } from '../../providers/contract/index.ts'
import { newCalendarRow } from '../calendar-row.ts'
import { calendarSubscriptionStore } from './store.ts'
import { calendarSubscriptions } from './subscriptions.ts'

const ACCOUNT = 'acc_1'
const EPOCH = 3
const DAY_MS = 24 * 3600 * 1000
const HOLIDAYS = 'de.german#holiday'
const WATCH = 'POST /calendar/v3/calendars/{calendarId}/events/watch'

describeEachDatabase('a subscription to a calendar of Google', (open) => {
  async function started() {
    const db = await open()
    const fixture = await googleCalendars()
    closing({ close: () => fixture.stop() })
    const { google, user, provider, access } = fixture
    google.calendars.add(user, { id: HOLIDAYS })
    await insertAccount(db)
    const clock = fixedClock(Date.now())
    let url = 'https://posthorn.test/n'
    const { ensure } = calendarSubscriptions({
      db,
      clock,
      log: silentLog,
      fence,
      calendars: () => provider,
      pushTarget: () => ({ url, lifecycleUrl: url }),
    })
    const calendar = (providerId: string) => {
      const remote = { calendarId: providerId, summary: '', description: '', timeZone: null, role: 'owner' as const }
      const look: RemoteCalendar = {
        ...remote,
        backgroundColor: null,
        foregroundColor: null,
        primary: false,
        selected: true,
      }
      return newCalendarRow(look, { id: `cal_${providerId}`, accountId: ACCOUNT, nowMs: 0 })
    }
    return {
      google,
      user,
      clock,
      moveTo: (link: string) => {
        url = link
      },
      rows: () => calendarSubscriptionStore(db.read).of(ACCOUNT),
      clear: () =>
        db.transaction(async (tx) => {
          const store = calendarSubscriptionStore(tx)
          for (const row of await store.of(ACCOUNT)) await store.clearNotified(row)
        }),
      run: (calendars: string[], { watch = true, epoch = EPOCH } = {}) => {
        const account = { id: ACCOUNT, provider: 'gmail', watch, sharedWith: null } as Account
        return ensure({ account, access, epoch }, calendars.map(calendar))
      },
      watches: () => google.calls.counts()[WATCH] ?? 0,
    }
  }

  it('is replaced before it expires, and its calendar then counts as changed', async () => {
    const { google, user, clock, rows, clear, run, watches } = await started()
    const [first] = await run([user])
    expect(first).toMatchObject({ calendarId: `cal_${user}`, isNotified: 1 })
    expect(await rows()).toEqual([first])
    await clear()
    clock.advance(3 * DAY_MS)
    expect(await run([user])).toMatchObject([{ subscriptionId: first?.subscriptionId, isNotified: 0 }])
    expect(watches()).toBe(1)
    clock.advance(DAY_MS)
    const [second] = await run([user])
    expect(second).toMatchObject({ isNotified: 1 })
    expect([
      second?.subscriptionId === first?.subscriptionId,
      second?.clientStateHash === first?.clientStateHash,
    ]).toEqual([false, false])
    expect(google.calendars.channels.of(user)).toEqual([user])
  })

  it('is ended for a calendar that is gone, and moved to another address', async () => {
    const { google, user, moveTo, rows, run } = await started()
    google.calendars.add(user, { id: 'team' })
    await run([user, 'team'])
    await run(['team'])
    expect(google.calendars.channels.of(user)).toEqual(['team'])
    moveTo('https://posthorn.test/other')
    await run(['team'])
    expect([(await rows()).map(({ target }) => target), google.calendars.channels.of(user)]).toEqual([
      ['https://posthorn.test/other'],
      ['team'],
    ])
    await run(['team'], { watch: false })
    expect([await rows(), google.calendars.channels.of(user)]).toEqual([[], []])
  })

  it('is not asked for again soon where Google refused it, and does not stop the others', async () => {
    const { google, user, clock, run, watches } = await started()
    expect(await run([HOLIDAYS, user])).toHaveLength(1)
    expect(await run([HOLIDAYS, user])).toHaveLength(1)
    expect(watches()).toBe(2)
    clock.advance(DAY_MS)
    await run([HOLIDAYS, user])
    expect(watches()).toBe(3)
    google.calendars.add(user, { id: 'team' })
    google.fail({ as: 'server-error', on: /watch/, times: 9 })
    expect(await run([user, 'team'])).toHaveLength(1)
    google.faults.clear()
    expect(await run([user, 'team'])).toHaveLength(1)
    clock.advance(DAY_MS)
    expect(await run([user, 'team'])).toHaveLength(2)
  })

  it('is not stored by a former owner, and ended at Google', async () => {
    const { google, user, rows, run } = await started()
    await expect(run([user], { epoch: EPOCH - 1 })).rejects.toBeInstanceOf(OwnershipLost)
    expect([await rows(), google.calendars.channels.of(user)]).toEqual([[], []])
  })
})

async function insertAccount(db: Db): Promise<void> {
  await db.transaction(async (tx) => {
    const person = { customUserId: null, providerUser: 'u', identity: 'i', settings: '{}', secrets: '', tokens: '{}' }
    const life = { trouble: null, lastSyncAt: null, ownerInstance: null, createdAt: 0, updatedAt: 0, epoch: EPOCH }
    const state = { status: 'connected' as const, statusReason: null, paused: 0, watch: 1 }
    const row = { id: ACCOUNT, email: 'ann@gmail.test', provider: 'gmail' as const, ...state, ...person, ...life }
    await tx.insertInto('accounts').values(row).execute()
  })
}
