/** Checks what callbacks return. Each function returns the checked value, or throws `BadAnswer`. */
import { findZone } from '../../platform/calendar/zone.ts'
import { yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { cleanJson, cleanText, truncateText } from '../../platform/formats/text.ts'
import { parseTime } from '../../platform/time/time.ts'
import type { BookingDecision, Slot } from '../contract.ts'
import { isPageUrl } from '../experiences/checks.ts'
import type { Members } from '../experiences/experience.ts'
import { MAX_LENGTH_DAYS, MAX_LENGTH_MS } from '../slots/slot-rules.ts'

/** Says which member of our contract is wrong, and never its value: `slots.0.end`, `is required`. */
export class BadAnswer extends Error {
  override name = 'BadAnswer'
  /** Empty for the response as a whole, of which `problem` is a sentence. */
  readonly path: string
  readonly problem: string

  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path} ${problem}`)
    this.path = path
    this.problem = problem
  }
}

export function badStatus(status: number): BadAnswer {
  return new BadAnswer('', `The endpoint returned ${status}.`)
}

export interface AvailabilityAnswer {
  generatedAt: number
  expiresAt: number | null
  timezone: string
  /** In order of start and end. Of several slots of one time the first is kept. */
  slots: Slot[]
}

const TURN_MS = 8
const MAX_SLOTS = 5000
const MAX_PARTICIPANTS = 100
/** A guest sends a slot back in a body of at most 64 KB. */
const MAX_SLOT_BYTES = 16 * 1024
const MAX_METADATA_BYTES = 16 * 1024
const MAX_REASON = 500
const MAX_ID = 1024
const MAX_URL = 2048
const MAX_ACCOUNTS = 100

/** `timezone` is that of slots that name none. */
export async function parseAvailability(body: unknown, timezone: string): Promise<AvailabilityAnswer> {
  const response = requireObject(body, '')
  const generatedAt = requireTime(response.generatedAt, 'generatedAt')
  if (!Array.isArray(response.slots)) throw new BadAnswer('slots', 'must be a list')
  if (response.slots.length > MAX_SLOTS) throw new BadAnswer('slots', `must have at most ${MAX_SLOTS} items`)
  const zone = zoneIn(response.timezone, 'timezone') ?? timezone
  const unique = new Map<string, Slot>()
  for (const [index, item] of response.slots.entries()) {
    const slot = parseSlot(item, `slots.${index}`, zone)
    const key = `${slot.start} ${slot.end}`
    if (!unique.has(key)) unique.set(key, slot)
    await yieldIfHeld(TURN_MS)
  }
  const slots = [...unique.values()].sort((left, right) => left.start - right.start || left.end - right.end)
  const expiresAt = isAbsent(response.expiresAt) ? null : requireTime(response.expiresAt, 'expiresAt')
  return { generatedAt, expiresAt, timezone: zone, slots }
}

function parseSlot(item: unknown, path: string, timezone: string): Slot {
  const slot = requireObject(item, path)
  const start = requireTime(slot.start, `${path}.start`)
  const end = requireTime(slot.end, `${path}.end`)
  if (end <= start) throw new BadAnswer(`${path}.end`, 'must be later than start')
  if (end - start > MAX_LENGTH_MS) throw new BadAnswer(path, `must not be longer than ${MAX_LENGTH_DAYS} days`)
  const participants = isAbsent(slot.participants) ? [] : slot.participants
  if (!Array.isArray(participants) || participants.length > MAX_PARTICIPANTS) {
    throw new BadAnswer(`${path}.participants`, `must be a list of at most ${MAX_PARTICIPANTS} items`)
  }
  const metadata = isAbsent(slot.metadata) ? {} : requireObject(slot.metadata, `${path}.metadata`)
  const kept = cleanJson({ participants, metadata })
  if (Buffer.byteLength(kept) > MAX_SLOT_BYTES) {
    throw new BadAnswer(path, 'must not have more than 16 KB of participants and metadata')
  }
  return { start, end, timezone: zoneIn(slot.timezone, `${path}.timezone`) ?? timezone, ...JSON.parse(kept) }
}

/** Parses the body of a response with status 2xx. An empty one confirms. */
export function parseDecision(body: unknown): BookingDecision {
  const response = body === undefined ? {} : requireObject(body, '')
  const { status, eventId, joinUrl, metadata, guestVerified } = response
  if (status === 'rejected') return { kind: 'refused', reason: reasonIn(body) }
  if (status === 'pending') return { kind: 'pending' }
  if (!isAbsent(status) && status !== 'confirmed')
    throw new BadAnswer('status', 'must be confirmed, rejected or pending')
  if (!isAbsent(eventId) && (typeof eventId !== 'string' || eventId.length > MAX_ID)) {
    throw new BadAnswer('eventId', `must be a text of at most ${MAX_ID} characters`)
  }
  if (!isAbsent(joinUrl) && !isLink(joinUrl)) throw new BadAnswer('joinUrl', 'must be an http or https URL')
  if (!isAbsent(guestVerified) && typeof guestVerified !== 'boolean') {
    throw new BadAnswer('guestVerified', 'must be true or false')
  }
  const kept = isAbsent(metadata) ? null : cleanJson(requireObject(metadata, 'metadata'))
  if (kept !== null && Buffer.byteLength(kept) > MAX_METADATA_BYTES) {
    throw new BadAnswer('metadata', 'must not exceed 16 KB')
  }
  return {
    kind: 'confirmed',
    eventId: typeof eventId === 'string' ? cleanText(eventId) : null,
    joinUrl: isLink(joinUrl) ? new URL(joinUrl).href : null,
    metadata: kept === null ? null : JSON.parse(kept),
    ...(guestVerified === true && { guestVerified }),
  }
}

/** The member `message`, for people. */
export function reasonIn(body: unknown): string | null {
  const { message } = Object(body)
  if (typeof message !== 'string' || message.trim() === '') return null
  return truncateText(cleanText(message).replaceAll(/\s+/g, ' ').trim(), MAX_REASON)
}

/** Where the answers of a guest lead. Undefined: nowhere else. */
export type Route = { accountIds: string[] } | { slug: string } | { redirectUrl: string }

/** Parses the body of a response with status 2xx. The redirect takes precedence, then the experience. */
export function parseRoute(body: unknown): Route | undefined {
  if (body === undefined) return undefined
  const { slug, accountIds, redirectUrl } = requireObject(body, '')
  if (!isAbsent(redirectUrl)) {
    if (!isLink(redirectUrl)) throw new BadAnswer('redirectUrl', 'must be an http or https URL')
    return { redirectUrl: new URL(redirectUrl).href }
  }
  if (!isAbsent(slug)) {
    if (typeof slug !== 'string') throw new BadAnswer('slug', 'must be a text')
    return { slug }
  }
  if (isAbsent(accountIds)) return undefined
  const isList = Array.isArray(accountIds) && accountIds.length > 0 && accountIds.length <= MAX_ACCOUNTS
  if (!isList || accountIds.some((id) => typeof id !== 'string')) {
    throw new BadAnswer('accountIds', `must be a list of 1 to ${MAX_ACCOUNTS} ids`)
  }
  return { accountIds: [...new Set<string>(accountIds)] }
}

function isLink(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_URL && isPageUrl(value)
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

function requireObject(value: unknown, path: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw path === ''
      ? new BadAnswer('', 'The response must be a JSON object.')
      : new BadAnswer(path, 'must be a JSON object')
  }
  return { ...value }
}

function requireTime(value: unknown, path: string): number {
  if (isAbsent(value)) throw new BadAnswer(path, 'is required')
  const ms = typeof value === 'string' ? parseTime(value) : undefined
  if (ms === undefined) throw new BadAnswer(path, 'must be an RFC 3339 time with an offset')
  return ms
}

function zoneIn(value: unknown, path: string): string | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'string' || findZone(value) === undefined) {
    throw new BadAnswer(path, 'must be the IANA name of a time zone')
  }
  return value
}
