import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CalendarAccount, day, describeEachCalendar } from '../../../test/kit/calendars/calendar-accounts.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

describeEachCalendar('lists without a time range', (_provider, open) => {
  let account: CalendarAccount
  beforeAll(async () => {
    account = await open()
    await account.put({ summary: 'Wedding', start: '1961-06-10T12:00:00' })
    await account.put({ summary: 'Founding', start: '2014-05-02T09:00:00' })
    await account.put({ summary: 'Walk', start: '2015-03-01T07:00:00', isDaily: true })
    await account.put({ summary: 'Soon', start: `${day(2)}T15:00:00` })
    await account.put({ summary: 'Eclipse', start: '2081-09-03T09:00:00' })
    await account.sync()
  })
  afterAll(() => account?.stop())

  const list = async (query: string): Promise<Json> => {
    const { status, json } = await account.api.get(`${account.events}?${query}`)
    expect([status, json.error]).toEqual([200, undefined])
    return json
  }
  const summaries = ({ events }: Json): string[] =>
    events.map(({ summary }: Json) => summary).filter((summary: string) => !summary.startsWith('Written elsewhere'))
  /** Follows the page tokens to the end, or for a number of pages. */
  async function pages(query: string, most = 20): Promise<Json[]> {
    const events: Json[] = []
    for (let token = '', page = 0; page < most; page += 1) {
      const { events: some, pagination } = await list(`${query}${token}`)
      events.push(...some)
      if (!pagination.hasNext) return events
      token = `&pageToken=${pagination.nextPageToken}`
    }
    return events
  }

  it('show every event once, whenever it takes place, on one page or on many', async () => {
    const all = ['Wedding', 'Founding', 'Walk', 'Soon', 'Eclipse']
    const whole = await list('')
    expect(summaries(whole)).toEqual(all)
    expect(whole.pagination).toMatchObject({ hasNext: false, total: whole.events.length })
    const paged = await pages('limit=2')
    expect(paged).toEqual(whole.events)
    expect(summaries({ events: await pages('limit=1') })).toEqual(all)
    const second = await list('limit=2&page=2')
    expect(second.events).toEqual(whole.events.slice(2, 4))
  })

  it('find words in all of them', async () => {
    expect(summaries(await list('q=wedding'))).toEqual(['Wedding'])
    expect(summaries(await list('q=eclipse'))).toEqual(['Eclipse'])
    expect(summaries(await list('q=eclipse&singleEvents=true'))).toEqual(['Eclipse'])
    expect(summaries(await list('q=nothing'))).toEqual([])
  })

  it('begin with the first instance and page on, through the stored time and beyond', async () => {
    const first = await pages('singleEvents=true&limit=3', 2)
    expect(first.map(({ summary, start }) => `${summary} ${start.dateTime.slice(0, 10)}`)).toEqual([
      'Wedding 1961-06-10',
      'Founding 2014-05-02',
      ...['2015-03-01', '2015-03-02', '2015-03-03', '2015-03-04'].map((date) => `Walk ${date}`),
    ])
    const from = new Date(Date.parse(day(0)) - 60 * 86_400_000).toISOString().slice(0, 10)
    const walks = await pages(`singleEvents=true&limit=200&timeMin=${from}T00:00:00Z&q=walk`, 4)
    expect(walks).toHaveLength(800)
    const days = walks.map(({ start }) => start.dateTime.slice(0, 10))
    expect(days).toEqual(
      days.map((_, index) => new Date(Date.parse(from) + index * 86_400_000).toISOString().slice(0, 10)),
    )
    expect(new Set(walks.map(({ id }) => id)).size).toBe(800)
  })

  it('expand many years between two bounds', async () => {
    const decades = 'timeMin=1960-01-01T00:00:00Z&timeMax=2082-01-01T00:00:00Z&singleEvents=true'
    const { status, json } = await account.api.get(`${account.events}?${decades}`)
    expect([status, json.error?.details?.[0]?.path]).toEqual([400, 'query.timeMax'])
    const years = await list('timeMin=2014-01-01T00:00:00Z&timeMax=2025-01-01T00:00:00Z&singleEvents=true&limit=2')
    expect([summaries(years), years.pagination.total]).toEqual([['Founding', 'Walk'], 1 + 3594])
  })

  it('keep to one bound', async () => {
    expect(summaries(await list('timeMax=2015-01-01T00:00:00Z'))).toEqual(['Wedding', 'Founding'])
    expect(summaries(await list('timeMin=2080-01-01T00:00:00Z'))).toEqual(['Walk', 'Eclipse'])
    expect(summaries(await list('timeMax=1950-01-01T00:00:00Z'))).toEqual([])
    const upcoming = await list(`timeMin=${day(2)}T14:00:00Z&singleEvents=true&orderBy=startTime&limit=2`)
    expect([summaries(upcoming), upcoming.source]).toEqual([['Soon', 'Walk'], 'stored'])
  })

  it('show all of them in the order of the last change, too', async () => {
    const { events } = await list('orderBy=updated')
    expect(summaries({ events }).sort()).toEqual(['Eclipse', 'Founding', 'Soon', 'Walk', 'Wedding'])
    expect(await pages('orderBy=updated&limit=2')).toEqual(events)
    const instances = await pages('orderBy=updated&singleEvents=true&limit=150', 3)
    expect(new Set(instances.map(({ id }) => id)).size).toBe(450)
    const walks = instances.filter(({ summary }) => summary === 'Walk')
    expect(walks.map(({ start }) => start.dateTime)).toEqual(walks.map(({ start }) => start.dateTime).toSorted())
  })

  it('show what is stored when the provider does not answer, and that there may be more', async () => {
    await account.breakCalendar()
    const { status, json } = await account.api.get(`${account.events}?timeMin=${day(2)}T14:00:00Z&q=soon`)
    expect([status, summaries(json), json.pagination.hasNext]).toEqual([200, ['Soon'], true])
    const next = await account.api.get(
      `${account.events}?timeMin=${day(2)}T14:00:00Z&q=soon&pageToken=${json.pagination.nextPageToken}`,
    )
    expect(next.status).toBe(502)
    expect((await account.api.get(account.events)).status).toBe(502)
  })
})
