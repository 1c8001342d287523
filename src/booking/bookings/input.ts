import { findZone } from '../../platform/calendar/zone.ts'
import { canonical } from '../../platform/crypto/canonical.ts'
import { sha256 } from '../../platform/crypto/sha256.ts'
import { type DetailCode, type ErrorDetail, invalid, invalidFields } from '../../platform/errors/app-error.ts'
import { cleanJson } from '../../platform/formats/text.ts'
import { parseTime, TIME_PROBLEM } from '../../platform/time/time.ts'
import { checkAddress } from '../../providers/shared/mime/index.ts'
import type { SlotChoice } from '../contract.ts'
import type { BookingForm, Experience, FormField, Members } from '../experiences/experience.ts'
import { guestAddress } from '../guests/guest-address.ts'
import type { BookingBody, BookingQuery, SlotBody } from './api.ts'
import type { Guest, Submission } from './booking.ts'

const MAX_KEY = 256
const MAX_NAME = 200
const MAX_LINE = 1000
const MAX_TEXT = 5000
/** The limit for one part of the request as JSON, so that events and messages stay small. */
const MAX_PART_BYTES = 32 * 1024
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
/** Tabs and line breaks are allowed. */
const CONTROL_IN_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/
const PHONE = /^\+?[\d\s().\-/]{3,40}(?:\s*(?:x|ext\.?)\s*\d{1,8})?$/i
/** With extensions, such as de-DE-u-ca-gregory-nu-latn, which some browsers add. */
const LOCALE = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,16}$/
/** The name of a person. Messages to the guest come from the host: nobody may put a link into them. */
const LINK = /:\/\/|\bwww\./i

/** Characters that nobody sees. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

type Errors = ErrorDetail[]
/** A problem with a value; the caller adds the path. */
type Problem = Omit<ErrorDetail, 'path'>

const problem = (code: DetailCode, message: string): Problem => ({ message, code })

/** Parses the fields of a booking request. Throws `validation_failed` with one error per invalid field. */
export function parseSubmission(
  body: Omit<BookingBody, 'slot' | 'holdId'>,
  form: BookingForm | null,
): Omit<Submission, 'requestHash'> {
  const errors: Errors = []
  if (body.website) errors.push({ path: 'body.website', message: 'must be empty' })
  const guest = parseGuest('body.guest', body.guest, errors)
  const { responses = {}, metadata = {} } = body
  const attendees = (body.attendees ?? []).map((attendee, index) =>
    parseAttendee(`body.attendees.${index}`, attendee, errors),
  )
  for (const field of form?.fields ?? []) {
    const found = findProblem(field, responses[field.name])
    if (found !== undefined) errors.push({ path: `body.responses.${field.name}`, ...found })
  }
  for (const [name, part] of Object.entries({ guest, attendees, responses, metadata })) {
    if (Buffer.byteLength(JSON.stringify(part)) > MAX_PART_BYTES) {
      const message = `must not be larger than ${MAX_PART_BYTES / 1024} KB as JSON`
      errors.push({ path: `body.${name}`, ...problem('too_long', message) })
    }
  }
  if (errors.length > 0) throw invalidFields(errors)
  return JSON.parse(cleanJson({ guest, attendees, responses, metadata }))
}

export function parseGuest(path: string, guest: Members, errors: Errors): Guest {
  const { timezone, locale } = guest
  const { address, problem: wrong } = guestAddress(text(guest.email))
  if (address === undefined) errors.push({ path: `${path}.email`, ...problem('invalid_email', wrong) })
  if (guest.name !== undefined && text(guest.name).replaceAll(INVISIBLE, '').trim() === '')
    errors.push({ path: `${path}.name`, ...problem('required', 'must not be blank') })
  else checkName(`${path}.name`, text(guest.name), errors)
  if (timezone !== undefined && (typeof timezone !== 'string' || findZone(timezone) === undefined)) {
    errors.push({ path: `${path}.timezone`, message: 'must be the IANA name of a time zone, such as Europe/Berlin' })
  }
  if (locale !== undefined && (typeof locale !== 'string' || !LOCALE.test(locale))) {
    errors.push({ path: `${path}.locale`, message: 'must be a language tag, such as en or pt-BR' })
  }
  return { ...guest, email: address?.email ?? '', name: text(guest.name).trim() }
}

/** Attendees with an address get the invitation too. */
function parseAttendee(path: string, attendee: Members, errors: Errors): Members {
  const { email, displayName, name } = attendee
  for (const [member, value] of Object.entries({ displayName, name })) {
    if (value !== undefined) checkName(`${path}.${member}`, value, errors)
  }
  if (email === undefined) return attendee
  const { address, problem: wrong } = guestAddress(text(email))
  if (address === undefined) errors.push({ path: `${path}.email`, ...problem('invalid_email', wrong) })
  return { ...attendee, email: address?.email }
}

function checkName(path: string, name: unknown, errors: Errors): void {
  const fail = (code: DetailCode, message: string) => void errors.push({ path, ...problem(code, message) })
  if (typeof name !== 'string') fail('invalid_characters', 'must be text')
  else if (name.length > MAX_NAME) fail('too_long', `must not be longer than ${MAX_NAME} characters`)
  else if (!name.isWellFormed() || CONTROL.test(name)) {
    fail('invalid_characters', 'must be one line without control characters')
  } else if (LINK.test(name)) fail('contains_link', 'must not contain a link')
}

/** Finds the problem with an answer, if there is one. */
function findProblem({ type, required = false, options = [] }: FormField, response: unknown): Problem | undefined {
  if (isMissing(response)) return required ? problem('required', 'is required') : undefined
  if (type === 'checkbox') {
    if (typeof response !== 'boolean') return problem('invalid_option', 'must be true or false')
    return required && !response ? problem('required', 'must be true') : undefined
  }
  const values = new Set(options.map(({ value }) => value))
  if (type === 'multiselect') return findChoicesProblem(values, response)
  if (typeof response !== 'string') return problem('invalid_characters', 'must be text')
  const longest = type === 'textarea' ? MAX_TEXT : MAX_LINE
  if (response.length > longest) return problem('too_long', `must not be longer than ${longest} characters`)
  if (!response.isWellFormed() || (type === 'textarea' ? CONTROL_IN_TEXT : CONTROL).test(response)) {
    const message = type === 'textarea' ? 'must not contain control characters' : 'must be one line'
    return problem('invalid_characters', message)
  }
  if (type === 'select' && !values.has(response)) return problem('invalid_option', 'must be one of the given options')
  const isAddress = checkAddress({ name: '', email: response }).address !== undefined
  if (type === 'email' && !isAddress) return problem('invalid_email', 'must be an email address')
  if (type === 'phone' && !PHONE.test(response.trim())) return problem('invalid_phone', 'must be a phone number')
  return undefined
}

function findChoicesProblem(values: ReadonlySet<string>, response: unknown): Problem | undefined {
  if (!Array.isArray(response)) return problem('invalid_option', 'must be a list of values')
  if (response.some((value) => typeof value !== 'string' || !values.has(value))) {
    return problem('invalid_option', 'must contain only given options')
  }
  return new Set(response).size < response.length
    ? problem('invalid_option', 'must not contain an option twice')
    : undefined
}

/** A form sends an empty text for a field that was left empty. */
function isMissing(response: unknown): boolean {
  if (response === undefined || response === null) return true
  return typeof response === 'string' ? response.trim() === '' : Array.isArray(response) && response.length === 0
}

/** The slot of a request. Throws `validation_failed`. */
export function parseSlot(path: string, slot: SlotBody): SlotChoice {
  const errors: Errors = []
  const time = (name: 'start' | 'end', text: string) => {
    const ms = parseTime(text)
    if (ms === undefined) errors.push({ path: `${path}.${name}`, message: TIME_PROBLEM })
    return ms ?? 0
  }
  const start = time('start', slot.start)
  const end = slot.end === undefined ? undefined : time('end', slot.end)
  if (end !== undefined && end <= start) errors.push({ path: `${path}.end`, message: 'must be later than start' })
  if (slot.timezone !== undefined && findZone(slot.timezone) === undefined) {
    errors.push({ path: `${path}.timezone`, message: 'must be the IANA name of a time zone, such as Europe/Berlin' })
  }
  if (errors.length > 0) throw invalidFields(errors)
  const { token, participants, metadata, timezone } = slot
  return {
    start,
    ...(end !== undefined && { end }),
    ...(token !== undefined && { token }),
    ...(participants !== undefined && { participants }),
    ...(metadata !== undefined && { metadata }),
    ...(timezone !== undefined && { timezone }),
  }
}

/** Parses the times of a list request. Throws `validation_failed`. */
export function parseQuery({ from, to, ...query }: BookingQuery) {
  const errors: Errors = []
  const time = (name: string, text: string | undefined) => {
    const ms = text === undefined ? undefined : parseTime(text)
    if (text !== undefined && ms === undefined) errors.push({ path: `query.${name}`, message: TIME_PROBLEM })
    return ms
  }
  const range = { fromMs: time('from', from), toMs: time('to', to) }
  if (errors.length > 0) throw invalidFields(errors)
  return { ...query, ...range }
}

/** Builds the key that identifies a repeated request. Null without an Idempotency-Key. */
export function parseRequestKey({ id }: Pick<Experience, 'id'>, key: string | undefined): string | null {
  if (key === undefined) return null
  if (key === '' || key.length > MAX_KEY) {
    throw invalid('headers.idempotency-key', `must have between 1 and ${MAX_KEY} characters`)
  }
  return hashRequest([id, key])
}

/** Equal for a request that is repeated, whatever the order of its members. */
export function hashRequest(value: unknown): string {
  return sha256(JSON.stringify(canonical(value)), 'base64url')
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
