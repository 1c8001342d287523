import type { Account } from '../../accounts/index.ts'
import type { Composition, Outbox } from '../../mail/outbox/index.ts'
import { findZone } from '../../platform/calendar/zone.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { html } from '../../platform/formats/html.ts'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import { bookedHosts, bookedSlot, isBooked, readSubmission } from '../bookings/booking.ts'
import type { BookingLinks, Links } from '../bookings/links.ts'
import type { Experience } from '../experiences/experience.ts'
import { plainName } from '../guests/plain-name.ts'
import { shownAttendees, shownGuest, shownReason } from '../guests/shown-in-mail.ts'
import type { BookingRow } from '../tables.ts'
import { formatAnswers } from './event-text.ts'
import { bookingUid, type Invitation, invitationIcs } from './invitation-ics.ts'
import { ENGLISH, whenText, wordsFor } from './message-words.ts'
import type { TaskKind } from './run.ts'

export interface MessageTaskDeps {
  outbox: Pick<Outbox, 'sendingAccount' | 'prepare' | 'accept'>
  links: Links
  /** Part of the UID of every booking. */
  publicUrl: string
  findExperience(id: string): Promise<Experience | undefined>
}

/** The occasion of a message. Reminders are `reminder-<minutes>`. */
type Kind = 'confirmed' | 'rescheduled' | 'cancelled' | 'rejected' | 'reminder'

interface Letter {
  booking: BookingRow
  kind: Kind
  experience: Experience | undefined
  sender: Account
  /** The accounts that take part. */
  hosts: readonly Account[]
}

/** The lines of a message, each with a label, and links that are buttons in HTML. */
interface Content {
  title: string
  facts: { label: string; value: string }[]
  links: { label: string; url: string }[]
  /** Below the facts. */
  note: string | null
  locale: string
}

/**
 * Sends one message about a booking, from the account of its first host that can send. The outbox accepts it in the transaction that
 * ends the task, so that it is sent once. `subject` is `<kind>:<sequence>:<recipient>`; a message about an older state is not sent.
 */
export function messageTask(deps: MessageTaskDeps): TaskKind {
  return {
    async work(booking, task) {
      const [about = '', sequence = '', recipient = ''] = task.subject.split(':')
      const kind = parseKind(about)
      if (kind === undefined || Number(sequence) !== booking.sequence || !fits(kind, booking)) return undefined
      const found = await findSender(deps, booking)
      if (found === undefined) return undefined
      const experience = await deps.findExperience(booking.experienceId)
      const composition = composeMessage(deps, { booking, kind, experience, ...found }, recipient)
      if (composition === undefined) return undefined
      const options = { sendAt: null, repliesTo: null, draft: null, tracked: false }
      const prepared = await deps.outbox.prepare(found.sender, composition, options)
      return async (tx) => void (await deps.outbox.accept(tx, prepared))
    },
  }
}

/** Throws why the first host cannot send when none can. */
async function findSender(
  { outbox }: MessageTaskDeps,
  booking: BookingRow,
): Promise<{ sender: Account; hosts: Account[] } | undefined> {
  const hosts: Account[] = []
  let failure: unknown
  for (const id of bookedHosts(booking)) {
    try {
      hosts.push(await outbox.sendingAccount(id))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code !== 'not_found') failure ??= error
    }
  }
  const [sender] = hosts
  if (sender === undefined && failure !== undefined) throw failure
  return sender && { sender, hosts }
}

/** Returns undefined when the recipient no longer gets a message. */
function composeMessage(deps: MessageTaskDeps, letter: Letter, recipient: string): Composition | undefined {
  const { links } = deps
  const { booking } = letter
  // A link in a message proves that its holder reads the mail of the address.
  if (recipient === 'guest') return composeForGuest(deps, letter, [shownGuest(booking)], links.of(booking, 'reader'))
  if (recipient === 'attendees') {
    const others = booking.verifiedBy === null ? [] : shownAttendees(booking)
    // They did not book, so they get no links.
    return others.length === 0 ? undefined : composeForGuest(deps, letter, others, undefined)
  }
  const account = letter.hosts.find(({ id }) => id === recipient)
  return account && composeForHost(deps, letter, account, links.of(booking, 'host'))
}

/** `own` are the links of the guest; undefined for attendees, who get none. */
function composeForGuest(
  deps: MessageTaskDeps,
  letter: Letter,
  to: RemoteAddress[],
  own: BookingLinks | undefined,
): Composition {
  const { booking, kind, sender } = letter
  const { guest } = readSubmission(booking)
  const { words, locale } = wordsFor(guest.locale)
  const isStranger = booking.verifiedBy === null
  const reason = shownReason(booking, own === undefined)
  const zone = guest.timezone !== undefined && findZone(guest.timezone) ? guest.timezone : bookedSlot(booking).timezone
  const open = isBooked(booking) && own !== undefined
  const content: Content = {
    title: `${words[kind]}: ${experienceName(letter)}`,
    facts: [
      { label: words.when, value: whenText(booking, zone, locale) },
      ...(booking.joinUrl === null || !isBooked(booking) ? [] : [{ label: words.where, value: booking.joinUrl }]),
      { label: words.host, value: sender.email },
      ...(reason === null ? [] : [{ label: words.reason, value: reason }]),
    ],
    links: open
      ? [
          ...(isStranger ? [{ label: words.confirm, url: deps.links.confirm(booking) }] : []),
          { label: words.reschedule, url: own.reschedule },
          { label: words.cancel, url: own.cancel },
        ]
      : [],
    note: isStranger ? words.ignore : null,
    locale,
  }
  const method = kind === 'cancelled' || kind === 'rejected' ? 'CANCEL' : 'REQUEST'
  // The guest may have an invitation to a rejected booking; a reminder changes nothing.
  const needsIcs = kind !== 'reminder' && (kind !== 'rejected' || booking.sequence > 0)
  const ics = invitationIcs(buildInvitation(deps, letter, method, content, to))
  return {
    ...buildMessage(content, to, []),
    ...(needsIcs && { invitation: { method, content: ics } }),
  }
}

function composeForHost(deps: MessageTaskDeps, letter: Letter, account: Account, own: BookingLinks): Composition {
  const { booking, kind, experience } = letter
  const { guest } = readSubmission(booking)
  const content: Content = {
    title: `${hostWords(kind)}: ${experienceName(letter)}`,
    facts: [
      { label: ENGLISH.when, value: whenText(booking, bookedSlot(booking).timezone, 'en') },
      { label: 'Guest', value: guest.name === '' ? guest.email : `${guest.name} <${guest.email}>` },
      ...(booking.joinUrl === null ? [] : [{ label: ENGLISH.where, value: booking.joinUrl }]),
      ...(booking.reason === null ? [] : [{ label: ENGLISH.reason, value: booking.reason }]),
      ...formatAnswers(booking, experience),
    ],
    links: isBooked(booking)
      ? [
          { label: ENGLISH.reschedule, url: own.reschedule },
          { label: ENGLISH.cancel, url: own.cancel },
        ]
      : [],
    note: null,
    locale: 'en',
  }
  const file = invitationIcs(buildInvitation(deps, letter, 'PUBLISH', content, [guestAddress(guest)]))
  // The calendar has the event already, so that the file is only for those who want it elsewhere.
  const attached = { filename: 'booking.ics', contentType: 'text/calendar', contentId: null }
  return {
    ...buildMessage(content, [{ email: account.email, name: '' }], [guestAddress(guest)]),
    attachments: isBooked(booking) ? [{ ...attached, content: Buffer.from(file) }] : [],
  }
}

function buildInvitation(
  { publicUrl }: MessageTaskDeps,
  letter: Letter,
  method: Invitation['method'],
  content: Content,
  to: readonly RemoteAddress[],
): Invitation {
  const { booking, sender } = letter
  const { guest } = readSubmission(booking)
  const others = to.filter(({ email }) => email !== guest.email)
  const isForGuest = to.some(({ email }) => email === guest.email)
  const name = nameFor(method === 'PUBLISH' ? 'host' : isForGuest ? 'guest' : 'attendees', booking)
  return {
    method,
    uid: bookingUid(booking, publicUrl),
    sequence: booking.sequence,
    changedAt: booking.updatedAt,
    startMs: booking.startMs,
    endMs: booking.endMs,
    summary: experienceName(letter),
    description: content.links.map(({ label, url }) => `${label}: ${url}`).join('\n'),
    location: booking.joinUrl ?? '',
    url: booking.joinUrl,
    organizer: { email: sender.email, name: '' },
    attendees: [{ email: guest.email, name, accepted: true }, ...others],
  }
}

const KINDS: readonly string[] = ['confirmed', 'rescheduled', 'cancelled', 'rejected'] satisfies Kind[]

function parseKind(text: string): Kind | undefined {
  if (text.startsWith('reminder-')) return 'reminder'
  return isKind(text) ? text : undefined
}

function isKind(text: string): text is Kind {
  return KINDS.includes(text)
}

/** Whether the booking is still in the state that the message is about. */
function fits(kind: Kind, booking: BookingRow): boolean {
  // Attendees may get the confirmation of a booking that was moved before its guest was verified.
  return kind === 'reminder' || kind === 'confirmed' ? isBooked(booking) : kind === booking.status
}

/** The name of the guest. A host is no stranger, and reads it as it was entered. */
function nameFor(reader: 'host' | 'guest' | 'attendees', booking: BookingRow): string {
  const { name } = readSubmission(booking).guest
  if (reader === 'host' || (reader === 'attendees' && booking.verifiedBy === 'application')) return name
  return reader === 'guest' ? shownGuest(booking).name : plainName(name)
}

function experienceName({ booking, experience }: Letter): string {
  return experience?.name ?? booking.experienceSlug
}

function guestAddress({ email, name }: { email: string; name: string }): RemoteAddress {
  return { email, name }
}

function hostWords(kind: Kind): string {
  const words = { confirmed: 'New booking', rescheduled: 'Booking moved', cancelled: 'Booking cancelled' }
  return kind === 'rejected' || kind === 'reminder' ? ENGLISH[kind] : words[kind]
}

function buildMessage(
  { title, facts, links, note, locale }: Content,
  to: RemoteAddress[],
  replyTo: RemoteAddress[],
): Composition {
  const lines = [
    title,
    '',
    ...facts.map(({ label, value }) => `${label}: ${value}`),
    ...(note === null ? [] : ['', note]),
    ...links.flatMap(({ label, url }) => ['', `${label}:`, url]),
  ]
  const page = html`<!doctype html><html lang="${locale}" dir="auto"><body style="font-family: sans-serif">
<h1 style="font-size: 1.2em">${title}</h1>
<table>${facts.map(
    ({ label, value }) =>
      html`<tr><th style="text-align: start; vertical-align: top; padding: 0.2em 1em 0.2em 0">${label}</th><td style="white-space: pre-line">${value}</td></tr>`,
  )}</table>
${note !== null && html`<p>${note}</p>`}
${links.map(({ label, url }) => html`<p><a href="${url}">${label}</a></p>`)}
</body></html>`
  return {
    to,
    cc: [],
    bcc: [],
    replyTo,
    headers: [],
    attachments: [],
    inReplyTo: null,
    references: [],
    subject: title,
    text: lines.join('\n'),
    html: String(page),
  }
}
