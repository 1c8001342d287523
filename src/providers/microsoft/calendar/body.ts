import { DAY_MS, parseDay, parseLocal } from '../../../platform/calendar/days.ts'
import { findZone, UTC } from '../../../platform/calendar/zone.ts'
import { ianaZone, windowsZone } from '../../../platform/calendar/zone-names.ts'
import { html } from '../../../platform/formats/html.ts'
import type { EventInput, ZonedTime } from '../../contract/index.ts'
import { type Json, object, text } from '../../shared/rest/index.ts'
import { buildPattern, unsupported } from './pattern.ts'
import type { SeriesStart } from './recurrence.ts'

/** The members of an event that a request changes. `start` is needed for a recurrence. */
export function bodyOfEvent(event: Partial<EventInput>, start: SeriesStart | undefined, doing: string): Json {
  const { summary, description, location, busy, visibility, attendees, reminders, recurrence } = event
  return {
    ...(summary !== undefined && { subject: summary }),
    ...(description !== undefined && { body: { contentType: 'text', content: description } }),
    ...(location !== undefined && { location: { displayName: location } }),
    ...(event.start !== undefined && { start: graphTime(event.start), isAllDay: 'date' in event.start }),
    ...(event.end !== undefined && { end: graphTime(event.end) }),
    ...(recurrence !== undefined && start !== undefined && { recurrence: buildPattern(recurrence, start, doing) }),
    ...(busy !== undefined && { showAs: busy ? 'busy' : 'free' }),
    ...(visibility !== undefined && { sensitivity: toSensitivity(visibility, doing) }),
    ...(attendees !== undefined && {
      attendees: attendees.map(({ email, displayName, optional }) => ({
        emailAddress: { address: email, ...(displayName !== '' && { name: displayName }) },
        type: optional ? 'optional' : 'required',
      })),
    }),
    ...buildReminder(reminders, doing),
  }
}

function toSensitivity(visibility: EventInput['visibility'], doing: string): string {
  if (visibility === 'public') throw unsupported(doing, 'Outlook has no public events. Use the visibility default.')
  return visibility === 'default' ? 'normal' : visibility
}

/** Graph has one reminder. Null leaves the mailbox's own. */
function buildReminder(reminders: EventInput['reminders'] | undefined, doing: string): Json {
  if (reminders === undefined || reminders === null) return {}
  const [first, ...others] = reminders
  if (others.length > 0 || first?.method === 'email') {
    throw unsupported(doing, 'Outlook has one reminder, of method popup.')
  }
  return first === undefined
    ? { isReminderOn: false }
    : { isReminderOn: true, reminderMinutesBeforeStart: first.minutes }
}

/** Graph knows the zones of Windows, and only some of the others. */
function graphTime(time: ZonedTime): Json {
  if ('date' in time) return { dateTime: `${time.date}T00:00:00`, timeZone: 'UTC' }
  return { dateTime: time.dateTime, timeZone: windowsZone(ianaZone(time.timeZone) ?? time.timeZone) }
}

export function toSeriesStart(time: ZonedTime): SeriesStart {
  if ('date' in time) return { localMs: (parseDay(time.date) ?? 0) * DAY_MS, zone: UTC, isAllDay: true }
  const zone = findZone(ianaZone(time.timeZone) ?? '') ?? UTC
  return { localMs: parseLocal(time.dateTime) ?? 0, zone, isAllDay: false }
}

/** A line of underscores begins the text that Outlook adds for an online meeting. */
const RULE = /_{20,}/g

/**
 * Where the text of the online meeting begins in a body; its end without one. The address is searched without its query, because HTML
 * escapes that.
 */
export function meetingTextAt(content: string, { onlineMeeting, onlineMeetingUrl }: Json): number {
  const url = text(object(onlineMeeting).joinUrl) || text(onlineMeetingUrl)
  const urlAt = url ? content.indexOf(url.split('?')[0] ?? url) : -1
  if (urlAt === -1) return content.length
  const ruleAt = [...content.slice(0, urlAt).matchAll(RULE)].at(-1)?.index
  const divAt = content.lastIndexOf('<div', urlAt)
  return ruleAt ?? (divAt === -1 ? content.length : divAt)
}

/** The new description before what Outlook added: without that text the meeting would lose its link. */
export function withMeetingText(description: string, current: Json): Json {
  const content = text(object(current.body).content) ?? ''
  const meetingText = content.slice(meetingTextAt(content, current))
  if (meetingText === '') return { contentType: 'text', content: description }
  const words = html`${description}`.markup.replaceAll('\n', '<br>')
  return { contentType: 'html', content: `<html><body><div>${words}</div><br>${meetingText}` }
}
