import { randomUUID } from 'node:crypto'
import { describe } from 'vitest'
import type { LogEntry } from '../../../src/platform/log/index.ts'
import type { ProviderName } from '../../../src/providers/contract/index.ts'
import { startDavProxy } from '../../servers/dav-proxy.ts'
import { dovecotAvailable, startDovecot } from '../../servers/dovecot.ts'
import type { Refusal, Refused } from '../../servers/fake/refusals.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, type Google, startGoogle } from '../../servers/google.ts'
import { MICROSOFT_SCOPES, type Microsoft, OUTLOOK_CALENDAR_SCOPES, startMicrosoft } from '../../servers/microsoft.ts'
import { radicaleAvailable, startRadicale } from '../../servers/radicale.ts'
import { icsObject } from '../../servers/radicale-calendar.ts'
import { eventually } from '../eventually.ts'
import { type Api, api } from '../http/http.ts'
import { type Service, startService } from '../service/service.ts'

/** A running service with an account whose primary calendar is synced and empty. */
export interface CalendarAccount {
  api: Api
  id: string
  /** The path of the events of the primary calendar. */
  events: string
  /** Set where the provider is a fake. */
  google?: Google
  graph?: Microsoft
  /** Writes an object into the calendar, where it is one of CalDAV. */
  putObject?(text: string): Promise<void>
  /** The user at the provider. */
  user: string
  /** Another program creates an event, tomorrow at 9 o'clock. Returns its id at the provider. */
  write(summary: string): Promise<string>
  /** The same of an event at any time. */
  put(event: OtherEvent): Promise<string>
  /** Another program invites the user. */
  invite(summary: string): Promise<unknown>
  /** From now on, the provider answers no request about events. */
  breakCalendar(): Promise<void>
  /** The account gets another calendar. Returns its id at the provider. */
  addCalendar(name: string): Promise<string>
  /** Another program creates an event in that calendar, tomorrow at 9 o'clock. */
  writeInto(calendarId: string, summary: string): Promise<unknown>
  /** From now on, the provider lists the calendar and refuses it; null ends that. */
  refuse(calendarId: string, refused: Refused | null): void
  /** Waits until sync has read everything that happened so far. */
  sync(): Promise<void>
  /** Warnings of the service's log so far. */
  warnings(): LogEntry[]
  /** The calendar events that the service recorded, in order: `created <id> <version>`. */
  announced(): Promise<string[]>
  stop(): Promise<void>
}

export interface OtherEvent {
  summary: string
  /** In UTC: `2015-03-01T09:00:00`. It lasts an hour. */
  start: string
  /** A series without an end. */
  isDaily?: boolean
}

const GMAIL_USER = 'ann@gmail.test'
const OUTLOOK_USER = 'ada@example.test'
const IMAP_USER = 'ada@posthorn.test'
const PASSWORD = 'correct horse'
const ORGANIZER = 'lin@northwind.test'
const MARKER = 'Written elsewhere'
const DAY_MS = 24 * 60 * 60 * 1000
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS

/** The day that is this many days from today, in UTC. */
export function day(offset: number): string {
  return new Date(TODAY_MS + offset * DAY_MS).toISOString().slice(0, 10)
}

const hour = (hours: number) => ({ dateTime: `${day(1)}T${String(hours).padStart(2, '0')}:00:00`, timeZone: 'UTC' })
const TOMORROW = `${day(1)}T09:00:00`

function buildTimes({ start }: Pick<OtherEvent, 'start'>) {
  const end = new Date(Date.parse(`${start}Z`) + 60 * 60 * 1000).toISOString().slice(0, 19)
  return { start: { dateTime: start, timeZone: 'UTC' }, end: { dateTime: end, timeZone: 'UTC' } }
}

/** Runs a suite for every kind of account, with a real CalDAV server and the fakes of the others. */
export function describeEachCalendar(
  title: string,
  suite: (provider: ProviderName, open: () => Promise<CalendarAccount>) => void,
): void {
  describe(`${title} (gmail)`, () => suite('gmail', openGoogle))
  describe(`${title} (microsoft)`, () => suite('microsoft', openMicrosoft))
  const isAvailable = dovecotAvailable() && radicaleAvailable()
  describe.skipIf(!isAvailable)(`${title} (imap)`, () => suite('imap', openImap))
}

interface GoogleOptions {
  scopes?: readonly string[]
  /** Runs before the account is connected. */
  prepare?(google: Google, user: string): void
}

export async function openGoogle({ scopes = CALENDAR_SCOPES, prepare }: GoogleOptions = {}): Promise<CalendarAccount> {
  const google = await startGoogle()
  google.addUser(GMAIL_USER)
  prepare?.(google, GMAIL_USER)
  const { refreshToken } = await google.grant(GMAIL_USER, [...GOOGLE_SCOPES, ...scopes])
  const account = { provider: 'gmail', email: GMAIL_USER, refreshToken }
  const put = async (event: OtherEvent) =>
    google.calendars.put(GMAIL_USER, GMAIL_USER, {
      summary: event.summary,
      ...buildTimes(event),
      ...(event.isDaily && { recurrence: ['RRULE:FREQ=DAILY'] }),
    })
  const invite = async (summary: string) =>
    google.calendars.put(GMAIL_USER, GMAIL_USER, {
      summary,
      start: hour(9),
      end: hour(10),
      organizer: { email: ORGANIZER },
      attendees: [
        { email: ORGANIZER, organizer: true, responseStatus: 'accepted' },
        { email: GMAIL_USER, self: true, responseStatus: 'needsAction' },
      ],
    })
  const close = () => google.close()
  const breakCalendar = async () => google.fail({ as: 'unavailable', on: /freeBusy|events/, times: 1000 })
  const own = { put, invite, breakCalendar, ...googleOthers(google) }
  const opened = await connect(account, { environment: google.settings, close, ...own })
  return { ...opened, google, user: GMAIL_USER }
}

function googleOthers({ calendars }: Google): Others {
  return {
    async addCalendar(summary) {
      const id = `${summary}@group.calendar.google.com`
      calendars.add(GMAIL_USER, { id, summary, selected: true })
      return id
    },
    writeInto: async (id, summary) => calendars.put(GMAIL_USER, id, { summary, ...buildTimes({ start: TOMORROW }) }),
    refuse: (id, refused) => calendars.refuse(GMAIL_USER, id, refused),
  }
}

interface MicrosoftOptions {
  /** Runs before the account is connected. */
  prepare?(graph: Microsoft, user: string): void
}

export async function openMicrosoft({ prepare }: MicrosoftOptions = {}): Promise<CalendarAccount> {
  const graph = await startMicrosoft()
  graph.addUser(OUTLOOK_USER)
  prepare?.(graph, OUTLOOK_USER)
  const { refreshToken } = await graph.grant(OUTLOOK_USER, [...MICROSOFT_SCOPES, ...OUTLOOK_CALENDAR_SCOPES])
  const account = { provider: 'microsoft', email: OUTLOOK_USER, refreshToken }
  const put = async (event: OtherEvent) =>
    graph.calendars.put(OUTLOOK_USER, 'calendar', {
      subject: event.summary,
      ...buildTimes(event),
      originalStartTimeZone: 'UTC',
      ...(event.isDaily && { recurrence: dailyFrom(event.start.slice(0, 10)) }),
    })
  const invite = async (subject: string) =>
    graph.calendars.put(OUTLOOK_USER, 'calendar', {
      subject,
      start: hour(9),
      end: hour(10),
      originalStartTimeZone: 'UTC',
      isOrganizer: false,
      organizer: { emailAddress: { address: ORGANIZER } },
      attendees: [{ type: 'required', status: { response: 'none' }, emailAddress: { address: OUTLOOK_USER } }],
    })
  const close = () => graph.close()
  const breakCalendar = async () => graph.fail({ as: 'unavailable', on: /calendarView|events\?/, times: 1000 })
  const own = { put, invite, breakCalendar, ...microsoftOthers(graph) }
  const opened = await connect(account, { environment: graph.settings, close, ...own })
  return { ...opened, graph, user: OUTLOOK_USER }
}

function microsoftOthers({ calendars }: Microsoft): Others {
  return {
    async addCalendar(name) {
      calendars.add(OUTLOOK_USER, { id: name, name })
      return name
    },
    writeInto: async (id, subject) =>
      calendars.put(OUTLOOK_USER, id, { subject, ...buildTimes({ start: TOMORROW }), originalStartTimeZone: 'UTC' }),
    refuse: (id, refused) => calendars.refuse(OUTLOOK_USER, id, refused),
  }
}

function dailyFrom(startDate: string) {
  return {
    pattern: { type: 'daily' as const, interval: 1 },
    range: { type: 'noEnd' as const, startDate, recurrenceTimeZone: 'UTC' },
  }
}

export async function openImap(): Promise<CalendarAccount> {
  const [dovecot, radicale] = await Promise.all([startDovecot(), startRadicale()])
  const proxy = await startDavProxy(radicale.url)
  await dovecot.addUser(IMAP_USER, PASSWORD)
  await radicale.addUser(IMAP_USER, PASSWORD)
  const calendar = await radicale.makeCalendar(IMAP_USER, 'work')
  const account = {
    provider: 'imap',
    email: IMAP_USER,
    username: IMAP_USER,
    password: PASSWORD,
    host: dovecot.host,
    port: dovecot.imapsPort,
    secure: true,
    allowSelfSigned: true,
    caldavUrl: proxy.url,
  }
  const close = async () => {
    await Promise.all([dovecot.stop(), proxy.close(), radicale.stop()])
  }
  const put = async (event: OtherEvent) => {
    const path = `${calendar}${randomUUID()}.ics`
    const rule = event.isDaily ? { lines: ['RRULE:FREQ=DAILY'] } : {}
    const object = icsObject([{ summary: event.summary, ...buildTimes(event), ...rule }])
    await radicale.request(IMAP_USER, 'PUT', path, object)
    return path
  }
  const invite = async (summary: string) => {
    const lines = [`ORGANIZER:mailto:${ORGANIZER}`, `ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:${IMAP_USER}`]
    const object = icsObject([{ summary, start: hour(9), end: hour(10), lines }])
    await radicale.request(IMAP_USER, 'PUT', `${calendar}${randomUUID()}.ics`, object)
  }
  const breakCalendar = () => radicale.stop()
  const others: Others = {
    addCalendar: (name) => radicale.makeCalendar(IMAP_USER, name),
    writeInto(path, summary) {
      const object = icsObject([{ summary, ...buildTimes({ start: TOMORROW }) }])
      return radicale.request(IMAP_USER, 'PUT', `${path}${randomUUID()}.ics`, object)
    },
    refuse: (path, refused) => proxy.refuse(path, refused && DAV_STATUS[refused.as]),
  }
  const opened = await connect(account, { environment: {}, close, put, invite, breakCalendar, ...others })
  return {
    ...opened,
    user: IMAP_USER,
    async putObject(text) {
      await radicale.request(IMAP_USER, 'PUT', `${calendar}${randomUUID()}.ics`, text)
    },
  }
}

const DAV_STATUS: Record<Refusal, number> = {
  forbidden: 403,
  'missing-scope': 403,
  'not-found': 404,
  gone: 410,
  'server-error': 500,
  unauthorized: 401,
}

type Others = Pick<CalendarAccount, 'addCalendar' | 'writeInto' | 'refuse'>

interface Connecting extends Others, Pick<CalendarAccount, 'put' | 'invite' | 'breakCalendar'> {
  environment: Record<string, string>
  close(): Promise<void>
}

async function connect(account: object, { environment, close, ...own }: Connecting): Promise<CalendarAccount> {
  let service: Service | undefined
  const stop = async () => {
    await service?.stop()
    await close()
  }
  try {
    const logged: LogEntry[] = []
    const output = (entry: LogEntry) => void logged.push(entry)
    service = await startService({ environment: { LOG_LEVEL: 'warn', ...environment }, output })
    const owner = api(service.url, service.key)
    const { id } = (await owner.post('/accounts', account)).json
    const events = `/accounts/${id}/calendars/primary/events`
    const syncedAt = async () => {
      const { source, syncedAt } = (await owner.get(events)).json
      return source === 'stored' ? syncedAt : undefined
    }
    await eventually(async () => (await syncedAt()) !== undefined)
    const recorded = async (): Promise<{ type: string; data: { id: string; version: number; summary: string } }[]> => {
      const all = (await owner.get(`/events?accountId=${id}&limit=200&order=asc`)).json.events
      return all.filter(({ type }: { type: string }) => type.startsWith('calendar.event.'))
    }
    return {
      api: owner,
      id,
      events,
      user: '',
      stop,
      ...own,
      warnings: () => logged.filter(({ level }) => level === 'warn'),
      write: (summary) => own.put({ summary, start: TOMORROW }),
      async sync() {
        const marker = `${MARKER} ${randomUUID()}`
        await own.put({ summary: marker, start: TOMORROW })
        await owner.post(`/accounts/${id}/sync`)
        await eventually(async () => (await recorded()).some(({ data }) => data.summary === marker))
      },
      async announced() {
        const own = (await recorded()).filter(({ data }) => !data.summary.startsWith(MARKER))
        return own.map(({ type, data }) => `${type.slice('calendar.event.'.length)} ${data.id} ${data.version}`)
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}
