import { repeatedOffset, wallClock } from '../../platform/calendar/wall-clock.ts'
import { zoneLabel } from '../../platform/calendar/zone-label.ts'
import { type Html, html, trustedHtml } from '../../platform/formats/html.ts'
import { ICONS } from '../hosted/index.ts'
import { calendarLinks } from './calendar-links.ts'
import { type BookingContext, bookingDocument } from './layout.ts'
import type { BookingTextKey } from './texts/index.ts'

/** A booking as its page shows it. */
export interface ManagedBooking {
  id: string
  slug: string
  name: string
  state: 'confirmed' | 'pending' | 'cancelled' | 'rejected' | 'past'
  /** Why it was cancelled or declined. */
  reason: string | null
  startMs: number
  endMs: number
  timezone: string
  joinUrl: string | null
  /** The name of the file for calendars, below the page. */
  calendarFile: string
  /** Whether the experience still takes bookings. */
  isBookable: boolean
  /** `asked`: the link of the message was opened, whose holder can confirm the address. */
  address: 'confirmed' | 'asked' | 'unknown'
}

export interface ManagePage {
  booking: ManagedBooking
  token: string
  /** The part that the link asks for. */
  action: 'reschedule' | 'cancel' | 'confirm' | undefined
  /** The locale of the link, which the links and forms of the page keep. */
  locale: string | undefined
  /** The reason that the visitor entered for the cancellation, if it is too long. */
  longReason?: string
}

const STATES: Readonly<Record<ManagedBooking['state'], { key: BookingTextKey; icon: Html; look: string }>> = {
  confirmed: { key: 'booking.confirmed', icon: ICONS.check, look: ' good' },
  pending: { key: 'booking.pending', icon: ICONS.clock, look: '' },
  cancelled: { key: 'booking.cancelled', icon: ICONS.alert, look: ' bad' },
  rejected: { key: 'booking.rejected', icon: ICONS.alert, look: ' bad' },
  past: { key: 'booking.past', icon: ICONS.clock, look: '' },
}

/** Shows the booking, and what its guest can do. Only the button of the form changes something: scanners of messages open links. */
export function managePage(context: BookingContext, page: ManagePage): string {
  const { t } = context
  const { booking, action } = page
  const canChange = booking.state === 'confirmed'
  if (canChange && action === 'reschedule' && booking.isBookable) return reschedulePage(context, page)
  const { key, icon, look } = STATES[booking.state]
  const obstacle = findObstacle(page)
  const hasEnded = booking.state === 'cancelled' || booking.state === 'rejected'
  return bookingDocument(context, {
    title: t('booking.title'),
    isPrivate: true,
    body: html`<p class="state${look}">${icon}${t(key)}</p>
<h1><bdi>${booking.name}</bdi></h1>
${facts(context, booking, hasEnded)}
${hasEnded && booking.reason !== null && html`<p class="lead">${t.html('booking.reason', { reason: html`<bdi>${booking.reason}</bdi>` })}</p>`}
${obstacle !== undefined && html`<p class="lead">${t(obstacle)}</p>`}
${!hasEnded && booking.state !== 'past' && addressPart(context, page)}
${canChange && calendarPart(context, page)}
${
  canChange &&
  html`${booking.isBookable && html`<a class="button${booking.address !== 'asked' && html` primary`}" href="${pageHref(context, page, 'reschedule')}" rel="noreferrer">${t('booking.move')}</a>`}
${cancelPart(context, page)}`
}
${!canChange && booking.state !== 'pending' && booking.isBookable && html`<a class="button primary" href="${context.root}/book/${booking.slug}" rel="noreferrer">${t('booking.again')}</a>`}`,
  })
}

/** Why the change that the link asks for is not possible, unless the state of the booking says it. */
function findObstacle({ booking, action }: ManagePage): BookingTextKey | undefined {
  if (action !== 'reschedule' && action !== 'cancel') return undefined
  if (booking.state === 'past') return 'unchangeable.past'
  if (booking.state === 'pending') return 'unchangeable.pending'
  const isClosed = booking.state === 'confirmed' && !booking.isBookable
  return isClosed && action === 'reschedule' ? 'unchangeable.closed' : undefined
}

function cancelPart(context: BookingContext, page: ManagePage): Html {
  const { t } = context
  const { token, action, longReason } = page
  const isWrong = longReason !== undefined
  return html`<details${action === 'cancel' && html` open`}>
<summary>${ICONS.chevron}${t('cancel.open')}</summary>
<form method="post" action="${formAction(context, page)}">
<input type="hidden" name="token" value="${token}">
<div class="field"><label for="reason">${t('cancel.reason')}</label><textarea id="reason" name="reason" rows="3" maxlength="1000" aria-describedby="reason-hint"${isWrong && html` aria-invalid="true" autofocus`}>${longReason}</textarea>${
    isWrong
      ? html`<p class="error" id="reason-hint">${ICONS.alert}<span>${t('cancel.tooLong')}</span></p>`
      : html`<p class="hint" id="reason-hint">${t('cancel.hint')}</p>`
  }</div>
<button class="button danger" type="submit">${t('cancel.submit')}</button>
</form>
</details>`
}

/** Links that open the booking in a calendar. */
function calendarPart(context: BookingContext, page: ManagePage): Html {
  const { t, root } = context
  const { booking, token } = page
  const { name: title, joinUrl, startMs, endMs } = booking
  const calendars = calendarLinks({ title, joinUrl, start: isoTime(startMs), end: isoTime(endMs) })
  const file = `${root}/book/${booking.slug}/bookings/${booking.id}/${booking.calendarFile}?${bookingQuery({ token })}`
  const links = calendars.map(
    ({ name, href }) => html`<a href="${href}" target="_blank" rel="noreferrer noopener">${name}</a>`,
  )
  return html`<div class="calendars"><h2>${t('booking.addToCalendar')}</h2><p>${links}<a href="${file}" rel="noreferrer">.ics</a></p></div>`
}

/** Asks to confirm the address, and says when it is done. */
function addressPart(context: BookingContext, page: ManagePage): Html | false {
  const { t } = context
  const { booking, token, action } = page
  if (booking.address === 'asked') {
    return html`<form method="post" action="${formAction(context, page, '/confirm')}">
<input type="hidden" name="token" value="${token}">
<p class="lead">${t('address.text')}</p>
<button class="button primary" type="submit">${t('address.submit')}</button>
</form>`
  }
  return (
    booking.address === 'confirmed' &&
    action === 'confirm' &&
    html`<p class="lead" role="status">${t('address.done')}</p>`
  )
}

/** The widget, which moves the booking. */
function reschedulePage(context: BookingContext, page: ManagePage): string {
  const { t, root } = context
  const { booking, token } = page
  return bookingDocument(context, {
    title: t('booking.move'),
    isPrivate: true,
    isWide: true,
    hasWidget: true,
    body: html`<a class="above" href="${pageHref(context, page)}" rel="noreferrer">${ICONS.back}${t('booking.back')}</a>
<posthorn-scheduler api-base-url="${root}" experience-slug="${booking.slug}" data-booking-id="${booking.id}" data-booking-token="${token}" data-booking-start="${isoTime(booking.startMs)}" data-booking-end="${isoTime(booking.endMs)}">
<div slot="heading"><h1><bdi>${booking.name}</bdi></h1></div>
<noscript><p>${t('book.noscript')}</p></noscript>
</posthorn-scheduler>`,
  })
}

/** Relative, without the part that the visitor does not want. */
function pageHref({ root }: BookingContext, { booking, token, locale }: ManagePage, action?: string): string {
  return `${root}/book/${booking.slug}/bookings/${booking.id}?${bookingQuery({ token, action, locale })}`
}

function formAction({ root }: BookingContext, { booking, locale }: ManagePage, end = ''): string {
  const query = locale === undefined ? '' : `?${bookingQuery({ locale })}`
  return `${root}/book/${booking.slug}/bookings/${booking.id}${end}${query}`
}

/** The query of the page of a booking. */
export function bookingQuery(members: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) if (value !== undefined) query.set(name, value)
  return query
}

function facts({ t }: BookingContext, booking: ManagedBooking, hasEnded: boolean): Html {
  const { startMs, endMs, timezone: timeZone, joinUrl } = booking
  const dates = wallClock(t.language, timeZone, { dateStyle: 'full' })
  const day = dates.format(startMs)
  const time = { hour: 'numeric', minute: '2-digit' } as const
  const isOneDay = day === dates.format(endMs)
  const options = isOneDay ? time : ({ day: 'numeric', month: 'short', ...time } as const)
  const times = wallClock(t.language, timeZone, options).formatRange(startMs, endMs)
  const offset = repeatedOffset(timeZone, startMs, endMs)
  const struck = (text: string) => (hasEnded ? html`<s>${text}</s>` : html`<span>${text}</span>`)
  return html`<ul class="facts"><li>${CALENDAR}${struck(day)}</li><li>${ICONS.clock}<bdi>${struck(times)}</bdi></li><li>${GLOBE}<span>${zoneLabel(timeZone)}${offset !== undefined && html`, <bdi>${offset}</bdi>`}</span></li>${
    !hasEnded &&
    joinUrl !== null &&
    /^https?:\/\//i.test(joinUrl) &&
    html`<li>${ICONS.link}<a href="${joinUrl}" rel="noreferrer noopener">${t('booking.join')}</a></li>`
  }</ul>`
}

const isoTime = (ms: number) => new Date(ms).toISOString()

const drawing = (paths: string) =>
  trustedHtml(
    `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${paths}</svg>`,
  )
const CALENDAR = drawing(
  '<rect x="4" y="5.5" width="16" height="14.5" rx="3"/><path d="M4 10h16M8.5 3.5v4M15.5 3.5v4"/>',
)
const GLOBE = drawing(
  '<circle cx="12" cy="12" r="8.5"/><path d="M3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17"/>',
)
