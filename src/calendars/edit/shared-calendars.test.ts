import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CalendarAccount, day, openGoogle, openMicrosoft } from '../../../test/kit/calendars/calendar-accounts.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import type { Microsoft } from '../../../test/servers/microsoft.ts'

const OWNER = 'lin@acme.example'
const TIMES = {
  start: { dateTime: `${day(2)}T09:00:00`, timeZone: 'UTC' },
  end: { dateTime: `${day(2)}T10:00:00`, timeZone: 'UTC' },
}

/** As the API takes them. */
const LUNCH = {
  summary: 'Lunch',
  start: { dateTime: `${day(2)}T11:00:00Z`, timeZone: 'UTC' },
  end: { dateTime: `${day(2)}T12:00:00Z`, timeZone: 'UTC' },
}

/** Calendars of somebody else that the user may read, or change. */
interface Shared {
  open(): Promise<CalendarAccount>
  share(account: CalendarAccount, id: string, mayChange: boolean): void
  put(account: CalendarAccount, id: string, summary: string): void
}

const google: Shared = {
  open: openGoogle,
  share: ({ google, user }, id, mayChange) =>
    google?.calendars.add(user, { id, summary: id, accessRole: mayChange ? 'writer' : 'reader', selected: true }),
  put: ({ google, user }, id, summary) => void google?.calendars.put(user, id, { summary, ...TIMES }),
}

const outlook: Shared = {
  open: openMicrosoft,
  share: ({ graph, user }, id, canEdit) =>
    graph?.calendars.add(user, { id, name: id, canEdit, owner: { name: 'Lin', address: OWNER } }),
  put: ({ graph, user }, id, subject) => void graph?.calendars.put(user, id, { subject, ...TIMES }),
}

describe.each([
  ['gmail', google],
  ['microsoft', outlook],
])('calendars that somebody shares with the user (%s)', (_provider, shared) => {
  let account: CalendarAccount
  beforeAll(async () => {
    account = await shared.open()
    for (const [id, mayChange] of [
      ['readable', false],
      ['changeable', true],
    ] as const) {
      shared.share(account, id, mayChange)
      shared.put(account, id, `In ${id}`)
    }
    await account.api.post(`/accounts/${account.id}/sync`)
  })
  afterAll(() => account?.stop())

  const calendars = async (): Promise<Record<string, string>[]> =>
    (await account.api.get(`/accounts/${account.id}/calendars`)).json.calendars
  const eventsPath = async (name: string) => {
    const found = (await calendars()).find(({ summary }) => summary === name)
    return `/accounts/${account.id}/calendars/${found?.id}/events`
  }

  it('are listed with what the user may do, and their events are stored and announced', async () => {
    await eventually(async () => {
      const roles = (await calendars()).map(({ summary, accessRole, primary }) => [summary, accessRole, primary])
      expect(roles).toEqual(
        expect.arrayContaining([
          ['readable', 'reader', false],
          ['changeable', 'writer', false],
        ]),
      )
    })
    for (const name of ['readable', 'changeable']) {
      await eventually(async () => {
        const { events, source } = (await account.api.get(await eventsPath(name))).json
        expect([source, events.map(({ summary }: { summary: string }) => summary)]).toEqual(['stored', [`In ${name}`]])
      })
    }
    shared.put(account, 'readable', 'New')
    await account.sync()
    await eventually(async () =>
      expect((await account.api.get(await eventsPath('readable'))).json.events).toHaveLength(2),
    )
  })

  it('are changed where the user may, and refused by name elsewhere', async () => {
    const created = await account.api.post(await eventsPath('changeable'), LUNCH)
    expect([created.status, created.json.summary]).toEqual([200, 'Lunch'])
    const path = `${await eventsPath('changeable')}/${created.json.id}`
    expect((await account.api.patch(path, { summary: 'Late lunch' })).json.summary).toBe('Late lunch')
    expect((await account.api.delete(path)).status).toBe(200)
    const refused = await account.api.post(await eventsPath('readable'), LUNCH)
    expect([refused.status, refused.json.error]).toMatchObject([
      409,
      { code: 'not_supported', message: 'The account may only read the calendar "readable".' },
    ])
  })
})

/** A calendar that the user may change, in a new account, and the owner's means to take that right. */
interface Withdrawable {
  open(): Promise<CalendarAccount>
  withdraw(account: CalendarAccount): void
}

const lostAtGoogle: Withdrawable = {
  open: () =>
    openGoogle({
      prepare: (fake, user) => fake.calendars.add(user, { id: 'lost', summary: 'lost', accessRole: 'writer' }),
    }),
  withdraw: ({ google, user }) => google?.calendars.setRole(user, 'lost', 'reader'),
}

const lostAtMicrosoft: Withdrawable = {
  open: () => openMicrosoft({ prepare: (fake, user) => setOutlookRight(fake, user, true) }),
  withdraw: ({ graph, user }) => graph && setOutlookRight(graph, user, false),
}

function setOutlookRight({ calendars }: Microsoft, user: string, canEdit: boolean): void {
  calendars.add(user, { id: 'lost', name: 'lost', canEdit, owner: { name: 'Lin', address: OWNER } })
}

describe.each([
  ['gmail', lostAtGoogle],
  ['microsoft', lostAtMicrosoft],
])('a calendar of somebody else whose owner takes the right to change it (%s)', (_provider, lost) => {
  let account: CalendarAccount
  beforeAll(async () => {
    account = await lost.open()
  })
  afterAll(() => account?.stop())

  it('refuses changes by name, and does not ask for a consent', async () => {
    const { calendars } = (await account.api.get(`/accounts/${account.id}/calendars`)).json
    const id = calendars.find(({ summary }: { summary: string }) => summary === 'lost')?.id
    const path = `/accounts/${account.id}/calendars/${id}/events`
    const created = await account.api.post(path, LUNCH)
    expect(created.status).toBe(200)
    lost.withdraw(account)
    const event = `${path}/${created.json.id}`
    const refusals = {
      create: await account.api.post(path, LUNCH),
      update: await account.api.patch(event, { summary: 'Late lunch' }),
      delete: await account.api.delete(event),
    }
    const responses = Object.entries(refusals).map(([change, { status, json }]) => [change, status, json.error])
    const mayOnlyRead = { code: 'not_supported', message: 'The account may only read the calendar "lost".' }
    expect(responses).toMatchObject(Object.keys(refusals).map((change) => [change, 409, mayOnlyRead]))
    expect((await account.api.get(event)).json.summary).toBe('Lunch')
    expect((await account.api.get(`/accounts/${account.id}`)).json.status).toBe('connected')
  })
})
