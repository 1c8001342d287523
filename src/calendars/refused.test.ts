import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CalendarAccount, day, describeEachCalendar } from '../../test/kit/calendars/calendar-accounts.ts'
import { eventually } from '../../test/kit/eventually.ts'
import type { Refusal } from '../../test/servers/fake/refusals.ts'

const REFUSALS: Refusal[] = ['forbidden', 'missing-scope', 'not-found', 'gone', 'server-error', 'unauthorized']
const LIVE_CODES = ['provider_rejected', 'provider_unavailable', 'not_found']
const FRESH = { 'cache-control': 'no-cache' }
const TOMORROW = { startTime: `${day(1)}T00:00:00Z`, endTime: `${day(2)}T00:00:00Z`, intervalMinutes: 60 }

describeEachCalendar('a calendar that is refused', (provider, open) => {
  let account: CalendarAccount
  beforeAll(async () => {
    account = await open()
  })
  afterAll(() => account?.stop())

  /** As the API shows the calendar. */
  async function shown(providerId: string) {
    const { json } = await account.api.get(`/accounts/${account.id}/calendars`)
    return json.calendars.find((calendar: { providerId: string }) => calendar.providerId === providerId)
  }
  const eventsPath = (providerId: string) =>
    `/accounts/${account.id}/calendars/${encodeURIComponent(providerId)}/events`
  /** Waits until sync has stored these events. Until there are any, each request asks the provider. */
  async function stores(providerId: string, summaries: string[]): Promise<void> {
    const range = `limit=200&timeMin=${TOMORROW.startTime}&timeMax=${TOMORROW.endTime}`
    const check = async () => {
      const { json } = await account.api.get(`${eventsPath(providerId)}?${range}`)
      expect(json.source).toBe('stored')
      expect(json.events.map(({ summary }: { summary: string }) => summary).sort()).toEqual(summaries)
    }
    await eventually(check, undefined, 250)
  }
  const request = () => account.api.post(`/accounts/${account.id}/sync`)

  it('stops no other one, is shown with its reason, and is read again when it can be', async () => {
    const refused = new Map<Refusal, string>()
    for (const as of REFUSALS) refused.set(as, await account.addCalendar(`a-${as}`))
    const other = await account.addCalendar('b-other')
    for (const calendar of [...refused.values(), other]) await account.writeInto(calendar, 'before')
    await request()
    for (const calendar of [other, ...refused.values()]) await stores(calendar, ['before'])

    for (const [as, calendar] of refused) {
      account.refuse(calendar, { as })
      await account.writeInto(calendar, 'meanwhile')
    }
    await account.writeInto(other, 'meanwhile')
    await request()
    await stores(other, ['before', 'meanwhile'])
    for (const calendar of refused.values()) {
      await eventually(async () => {
        expect((await shown(calendar)).failure).toEqual({
          reason: expect.stringMatching(/^[A-Z].+\.$/),
          since: expect.any(String),
          attempts: expect.any(Number),
          nextAttemptAt: expect.any(String),
        })
      })
      await stores(calendar, ['before'])
    }
    expect((await shown(other)).failure).toBeNull()
    expect((await account.api.get(`/accounts/${account.id}`)).json).toMatchObject({ status: 'connected' })

    const logged = account.warnings().filter(({ message }) => message.startsWith('Cannot sync the calendar "a-'))
    expect(new Set(logged.map(({ metadata }) => metadata?.calendarId)).size).toBe(REFUSALS.length)

    // Times that cannot be read are not free, and nobody is asked for consent.
    for (const [as, calendar] of refused) {
      const live = await account.api.get(eventsPath(calendar), FRESH)
      expect([as, LIVE_CODES.includes(live.json.error.code)]).toEqual([as, true])
      const { id } = await shown(calendar)
      // Each of them is one of the account's own.
      const participants = [id, account.id]
      const { status, json } = await account.api.post(
        `/accounts/${account.id}/availability`,
        { ...TOMORROW, participants },
        FRESH,
      )
      expect([as, status]).toEqual([as, 200])
      for (const { participantAvailability } of json.slots) {
        expect(participantAvailability).toEqual({ [id]: 'unknown', [account.id]: 'unknown' })
      }
    }

    for (const calendar of refused.values()) account.refuse(calendar, null)
    await request()
    for (const calendar of refused.values()) {
      await stores(calendar, ['before', 'meanwhile'])
      await eventually(async () => expect((await shown(calendar)).failure).toBeNull())
    }
  })

  // As Graph does for resource mailboxes. CalDAV has no pages.
  if (provider === 'imap') return
  it('for its later pages is shown as well, and complete once they can be read', async () => {
    const resource = await account.addCalendar('a-resource')
    const other = await account.addCalendar('c-other')
    const summaries = Array.from({ length: 101 }, (_, at) => `meeting ${at}`).sort()
    for (const summary of summaries) await account.writeInto(resource, summary)
    await account.writeInto(other, 'before')
    account.refuse(resource, { as: 'missing-scope', laterPages: true })
    await request()
    await stores(other, ['before'])
    await eventually(
      async () => expect((await shown(resource)).failure?.reason).toMatch(/gives no access to it/),
      undefined,
      250,
    )

    account.refuse(resource, null)
    await request()
    await eventually(async () => expect((await shown(resource)).failure).toBeNull(), undefined, 250)
    await stores(resource, summaries)
  })
})
