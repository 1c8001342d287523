import type { Db, Tx } from '../../../platform/db/index.ts'
import { AppError, invalid } from '../../../platform/errors/app-error.ts'
import { cleanJson } from '../../../platform/formats/text.ts'
import { secretToken } from '../../../platform/ids.ts'
import type { CheckedSlot, SlotChoice, SlotFinder, StoredSlot } from '../../contract.ts'
import type { Experience } from '../../experiences/experience.ts'
import { chargeMessages, rememberPeople } from '../../guests/booking-mail.ts'
import { addressKey } from '../../guests/guest-address.ts'
import { type MailLimitDeps, reportingLimits } from '../../guests/limit-report.ts'
import { blockStore } from '../../slots/blocks.ts'
import type { BookingRow, GuestProof, HoldRow } from '../../tables.ts'
import { addTasks, hasOpenTask } from '../../tasks/store.ts'
import type { Verification } from '../../verification/service.ts'
import type { BookingBody } from '../api.ts'
import { publicReason, readSubmission, type Submission } from '../booking.ts'
import { hashRequest, parseRequestKey, parseSlot, parseSubmission } from '../input.ts'
import { holdHosts, storeConfirmation, storeNew } from '../state-changes.ts'
import { bookingStore } from '../store.ts'
import { checkSignal, holdExpired, lockHosts, takeHold, takeSlot } from './blocking.ts'
import { askApplication, buildAskingTask, type DecisionDeps, decideBooking, refusal } from './deciding.ts'

export interface CreateDeps extends DecisionDeps, MailLimitDeps {
  experiences: { getActive(slug: string): Promise<Experience> }
  finder: SlotFinder
  verification: Pick<Verification, 'check' | 'use'>
}

export interface CreateOptions {
  /** The Idempotency-Key. */
  key?: string | undefined
  requestId: string
  /** From the application, with an API key. */
  isKeyed: boolean
  /** Who asked, without a key. See `clientBlock`. */
  client?: string | undefined
}

export interface Created {
  row: BookingRow
  /** An earlier request with the same key created it. */
  isRepeated: boolean
}

/** A request that was parsed, and whose guest has proved the address where the experience requires it. */
interface NewBooking {
  experience: Experience
  body: Pick<BookingBody, 'slot' | 'holdId'>
  submission: Submission
  requestKey: string | null
  requestId: string
  /** The application decides. */
  asks: boolean
  verifiedBy: GuestProof | null
  /** The code that proves it. */
  codeId: string | undefined
  client: string | undefined
}

/** The slot that the finder has checked, and the hold that the booking takes over. */
interface ChosenSlot {
  checked: CheckedSlot
  hold: HoldRow | undefined
}

/**
 * Books a slot:
 *
 *     request ─▶ guest's code ─▶ slot is free ─▶ transaction {hosts, blocks, row, budget, event} ─▶ the application decides
 *
 * Without a booking endpoint, the same transaction confirms the booking.
 */
export async function createBooking(
  deps: CreateDeps,
  slug: string,
  body: BookingBody,
  { key, requestId, isKeyed, client }: CreateOptions,
): Promise<Created> {
  const { db, experiences, verification } = deps
  const experience = await experiences.getActive(slug)
  const requestKey = parseRequestKey(experience, key)
  const requestHash = requestKey === null ? null : hashRequest(body)
  if (requestKey !== null) {
    const earlier = await bookingStore(db.read).byRequestKey(requestKey)
    if (earlier !== undefined) return repeatResponse(db, earlier, requestHash)
  }
  const { bookingForm, endpoints } = experience.definition
  const submission: Submission = { ...parseSubmission(body, bookingForm), requestHash }
  const { verificationCode: code, verificationId } = body
  const codeId = isKeyed
    ? undefined
    : await verification.check(experience, submission.guest.email, { code, verificationId, client: client ?? '' })
  const verifiedBy = isKeyed ? 'application' : codeId === undefined ? null : 'code'
  const asks = endpoints.booking !== null
  const booking: NewBooking = {
    experience,
    body,
    submission,
    requestKey,
    requestId,
    asks,
    verifiedBy,
    codeId,
    client,
  }
  const { row, isRepeated } = await reportingLimits(deps, experience, () => bookSlot(deps, booking)).catch(
    async (error: unknown) => {
      const earlier = await findEarlier(db, requestKey, error)
      if (earlier === undefined) throw error
      return { row: earlier, isRepeated: true }
    },
  )
  if (isRepeated) return repeatResponse(db, row, requestHash)
  if (!asks) return { row, isRepeated }
  const decision = await askApplication(deps, experience, row, { requestId })
  return { row: await decideBooking(deps, row.id, decision, { experience, isKnown: true }), isRepeated }
}

/**
 * Returns the booking of an earlier request with the same key, as it is now. Throws `idempotency_mismatch` for another request,
 * `idempotency_running` while the application is asked, and the refusal of a rejected booking.
 */
async function repeatResponse(db: Db, row: BookingRow, requestHash: string | null): Promise<Created> {
  if (readSubmission(row).requestHash !== requestHash) throw new AppError('idempotency_mismatch')
  // The application may take its time to decide.
  if (row.status === 'pending' && !(await hasOpenTask(db.read, row.id, 'decision')))
    throw new AppError('idempotency_running', { headers: { 'retry-after': '5' } })
  if (row.status === 'rejected') throw refusal(undefined, publicReason(row))
  return { row, isRepeated: true }
}

/** After a failed request: the first request with its key may have taken the slot meanwhile. */
async function findEarlier(db: Db, requestKey: string | null, error: unknown): Promise<BookingRow | undefined> {
  const isTaken = error instanceof AppError && error.code === 'slot_unavailable'
  const mayBeRepeated = requestKey !== null && (isTaken || db.dialect.isUniqueViolation(error))
  return mayBeRepeated ? bookingStore(db.read).byRequestKey(requestKey) : undefined
}

async function bookSlot(deps: CreateDeps, booking: NewBooking): Promise<Created> {
  const { db, finder } = deps
  const { experience, body, submission, requestId } = booking
  const { guest, responses, metadata } = submission
  const except = body.holdId === undefined ? {} : { except: body.holdId }
  const asked = { guest, responses, metadata, requestId, ...except, signal: checkSignal() }
  const hold = body.holdId === undefined ? undefined : await findHold(deps, experience, body.holdId)
  const checked = await finder.check(experience, chooseSlot(body, hold), asked)
  return db.transaction((tx) => insertBooking(deps, tx, booking, { checked, hold }))
}

async function findHold({ db, clock }: CreateDeps, experience: Experience, holdId: string): Promise<HoldRow> {
  const hold = await bookingStore(db.read).findHold(holdId)
  if (hold === undefined || hold.experienceId !== experience.id || hold.expiresAt <= clock.now()) throw holdExpired()
  return hold
}

/** The slot that the request chooses: that of the hold, if there is one. */
function chooseSlot({ slot }: Pick<BookingBody, 'slot'>, hold: HoldRow | undefined): SlotChoice {
  const wanted = slot && parseSlot('body.slot', slot)
  if (hold === undefined) {
    if (wanted === undefined) throw invalid('body.slot', 'is required')
    return wanted
  }
  const { start, end, timezone, participants, metadata }: StoredSlot = JSON.parse(hold.slot)
  if (wanted !== undefined && (wanted.start !== start || (wanted.end ?? end) !== end)) {
    throw invalid('body.slot', 'is not the slot of the hold')
  }
  return { start, end, timezone, participants, metadata, ...(wanted?.token !== undefined && { token: wanted.token }) }
}

async function insertBooking(deps: CreateDeps, tx: Tx, booking: NewBooking, chosen: ChosenSlot): Promise<Created> {
  const { db, clock, ids, events, verification, budget } = deps
  const { requestKey, asks, verifiedBy, codeId, client } = booking
  const nowMs = clock.now()
  await lockHosts(tx, db.dialect, chosen.checked.candidates, nowMs)
  const earlier = requestKey === null ? undefined : await bookingStore(tx).byRequestKey(requestKey)
  if (earlier !== undefined) return { row: earlier, isRepeated: true }
  const id = ids('bkg')
  const slot = await takeChosen(deps, tx, id, booking.experience, chosen)
  const { account, isComplete } = await holdHosts(deps, tx, slot.hosts)
  if (!isComplete) throw new AppError('slot_unavailable')
  const row = buildRow(booking, { id, slot, nowMs })
  const created = await storeNew(tx, row, account)
  if (codeId !== undefined) await verification.use(tx, codeId)
  if (verifiedBy !== 'application') await chargeMessages(tx, budget, row, client)
  if (verifiedBy !== null) await rememberPeople(tx, budget, row)
  if (asks) {
    await addTasks(tx, deps, id, [buildAskingTask(deps, '')])
    await events.record(tx, [created.event])
    return { row, isRepeated: false }
  }
  const confirmed = await storeConfirmation(deps, tx, row, account, undefined)
  await events.record(tx, [created.event, confirmed.event])
  return { row: confirmed.row, isRepeated: false }
}

/** Blocks the slot for the booking. The blocks of a hold become those of the booking, unless other hosts take part now. */
async function takeChosen(
  { clock }: CreateDeps,
  tx: Tx,
  bookingId: string,
  experience: Experience,
  { checked, hold }: ChosenSlot,
): Promise<StoredSlot> {
  const take = () => takeSlot(tx, { experience, checked, ownerId: bookingId, expiresAt: null, nowMs: clock.now() })
  if (hold === undefined) return take()
  const slot: StoredSlot = JSON.parse(hold.slot)
  // The answers of the guest may have led to other hosts than those of the hold.
  const hosts = slot.hosts.length > 0 ? slot.hosts : [experience.id]
  const isSame = checked.take === 'one' || hosts.length === checked.candidates.length
  if (!(await bookingStore(tx).removeHold(hold.id))) throw holdExpired()
  if (isSame && hosts.every((hostId) => checked.candidates.includes(hostId))) {
    await takeHold(tx, hold, bookingId)
    return slot
  }
  await blockStore(tx).deleteOwner(hold.id)
  return take()
}

function buildRow(
  { experience, submission, requestKey, verifiedBy }: NewBooking,
  { id, slot, nowMs }: { id: string; slot: StoredSlot; nowMs: number },
): BookingRow {
  return {
    id,
    experienceId: experience.id,
    experienceSlug: experience.slug,
    requestKey,
    status: 'pending',
    startMs: slot.start,
    endMs: slot.end,
    slot: cleanJson(slot),
    given: cleanJson(submission),
    guestEmail: addressKey(submission.guest.email),
    hosts: JSON.stringify(slot.hosts),
    eventId: null,
    joinUrl: null,
    reason: null,
    isReasonInternal: 0,
    cancelledBy: null,
    calendarState: slot.hosts.length === 0 ? 'none' : 'pending',
    calendarError: null,
    sequence: 0,
    linkSecret: secretToken(),
    verifiedBy,
    mailCharge: null,
    version: 1,
    createdAt: nowMs,
    updatedAt: nowMs,
  }
}
