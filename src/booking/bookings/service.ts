import type { Tx } from '../../platform/db/index.ts'
import { AppError, type ErrorDetail, invalid, invalidFields } from '../../platform/errors/app-error.ts'
import type { Page } from '../../platform/formats/page.ts'
import { cleanJson } from '../../platform/formats/text.ts'
import { secretToken } from '../../platform/ids.ts'
import { parseTime, TIME_PROBLEM } from '../../platform/time/time.ts'
import type { CheckedSlot, SlotChoice, StoredSlot } from '../contract.ts'
import type { Experience } from '../experiences/experience.ts'
import { chargeMessages, refundGuest, rememberPeople } from '../guests/booking-mail.ts'
import { MailLimited } from '../guests/budget.ts'
import { reportingLimits } from '../guests/limited.ts'
import { addressKey } from '../guests/mailbox.ts'
import { blockStore } from '../slots/blocks.ts'
import type { BookingRow, GuestProof, HoldRow } from '../tables.ts'
import type { Verification } from '../verification/service.ts'
import { addTasks, hasOpenTask } from '../work/store.ts'
import type { BookingBody, BookingQuery, SlotBody } from './api.ts'
import { checkSignal, holdExpired, lockHosts, takeHold, takeSlot } from './blocking.ts'
import { bookedHosts, isBooked, publicReason, readSubmission, type Submission } from './booking.ts'
import { type Held, type HoldOptions, holdSlot } from './holding.ts'
import { hashRequest, parseRequestKey, parseSlot, parseSubmission } from './input.ts'
import type { LinkRole, Links } from './links.ts'
import { conflict, type MoveDeps, moves } from './moving.ts'
import { bookingStore } from './store.ts'
import { updates } from './updating.ts'

interface BookingDeps extends MoveDeps {
  links: Links
  experiences: MoveDeps['experiences'] & { getActive(slug: string): Promise<Experience> }
  verification: Pick<Verification, 'check' | 'use'>
}

export interface RequestOptions {
  /** The Idempotency-Key. */
  key?: string | undefined
  requestId: string
  /** From the application, with an API key. */
  isKeyed: boolean
  /** Who asked, without a key. See `clientBlock`. */
  client?: string | undefined
}

/** Who cancels or moves a booking. */
export type Actor = LinkRole | 'api'

/** Books slots. See docs/decisions/0043-booking-scheduler.md for the order of what happens. */
export function bookings(deps: BookingDeps) {
  const { db, clock, ids, experiences, finder, links, changes, decisions, verification, budget } = deps
  const { decide, ask, buildAskingTask, cancelOpenMoves } = decisions

  /** Answers a repeated request with the booking as it is. Undefined when there is none. */
  async function repeated(row: BookingRow | undefined, requestHash: string | null): Promise<BookingRow | undefined> {
    if (row === undefined) return undefined
    if (readSubmission(row).requestHash !== requestHash) throw new AppError('idempotency_mismatch')
    // The application may take its time to decide.
    if (row.status === 'pending' && !(await hasOpenTask(db.read, row.id, 'decision')))
      throw new AppError('idempotency_running', { headers: { 'retry-after': '5' } })
    if (row.status === 'rejected') throw refused(publicReason(row))
    return row
  }

  async function findHold(experience: Experience, holdId: string): Promise<HoldRow> {
    const hold = await bookingStore(db.read).findHold(holdId)
    if (hold === undefined || hold.experienceId !== experience.id || hold.expiresAt <= clock.now()) throw holdExpired()
    return hold
  }

  /** The slot that the request chooses: that of the hold, if there is one. */
  function chooseSlot({ slot }: BookingBody, hold: HoldRow | undefined): SlotChoice {
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

  /** Returns whether the request was made before, and the booking. */
  async function create(
    slug: string,
    body: BookingBody,
    { key, requestId, isKeyed, client }: RequestOptions,
  ): Promise<{ row: BookingRow; isRepeated: boolean }> {
    const experience = await experiences.getActive(slug)
    const requestKey = parseRequestKey(experience, key)
    const requestHash = requestKey === null ? null : hashRequest(body)
    if (requestKey !== null) {
      const earlier = await repeated(await bookingStore(db.read).byRequestKey(requestKey), requestHash)
      if (earlier !== undefined) return { row: earlier, isRepeated: true }
    }
    const { bookingForm } = experience.definition
    const submission: Submission = { ...parseSubmission(body, bookingForm), requestHash }
    const { verificationCode: code, verificationId } = body
    const codeId = isKeyed
      ? undefined
      : await verification.check(experience, submission.guest.email, { code, verificationId, client: client ?? '' })
    const verifiedBy = isKeyed ? 'application' : codeId === undefined ? null : 'code'
    const { guest, responses, metadata } = submission
    const except = body.holdId === undefined ? {} : { except: body.holdId }
    const asked = { guest, responses, metadata, requestId, ...except, signal: checkSignal() }
    const asks = experience.definition.endpoints.booking !== null
    const take = async () => {
      const hold = body.holdId === undefined ? undefined : await findHold(experience, body.holdId)
      const choice = chooseSlot(body, hold)
      const checked = await finder.check(experience, choice, asked)
      return db.transaction((tx) =>
        insertBooking(tx, { experience, checked, hold, submission, requestKey, asks, verifiedBy, codeId, client }),
      )
    }
    const { row, isRepeated } = await reportingLimits(deps, experience, take).catch(async (error: unknown) => {
      // The first request with this key may have taken the slot meanwhile.
      const isTaken = error instanceof AppError && error.code === 'slot_unavailable'
      const mayBeRepeated = requestKey !== null && (isTaken || db.dialect.isUniqueViolation(error))
      const earlier = mayBeRepeated ? await bookingStore(db.read).byRequestKey(requestKey) : undefined
      if (earlier === undefined) throw error
      return { row: earlier, isRepeated: true }
    })
    if (isRepeated) return { row: (await repeated(row, requestHash)) ?? row, isRepeated }
    if (!asks) return { row, isRepeated }
    const decision = await ask(experience, row, { requestId })
    return { row: await decide(row.id, decision, { experience, isKnown: true }), isRepeated }
  }

  interface Inserted {
    experience: Experience
    checked: CheckedSlot
    hold: HoldRow | undefined
    submission: Submission
    requestKey: string | null
    /** The application decides. */
    asks: boolean
    verifiedBy: GuestProof | null
    /** The code that proves it. */
    codeId: string | undefined
    client: string | undefined
  }

  async function insertBooking(
    tx: Tx,
    { experience, checked, hold, submission, requestKey, asks, verifiedBy, codeId, client }: Inserted,
  ): Promise<{ row: BookingRow; isRepeated: boolean }> {
    const nowMs = clock.now()
    await lockHosts(tx, db.dialect, checked.candidates, nowMs)
    const earlier = requestKey === null ? undefined : await bookingStore(tx).byRequestKey(requestKey)
    if (earlier !== undefined) return { row: earlier, isRepeated: true }
    const id = ids('bkg')
    const slot = await takeFor(tx, id, { experience, checked, hold })
    const { account, isComplete } = await changes.hold(tx, slot.hosts)
    if (!isComplete) throw new AppError('slot_unavailable')
    const row: BookingRow = {
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
    const created = await changes.create(tx, row, account)
    if (codeId !== undefined) await verification.use(tx, codeId)
    if (verifiedBy !== 'application') await chargeMessages(tx, budget, row, client)
    if (verifiedBy !== null) await rememberPeople(tx, budget, row)
    if (asks) {
      await addTasks(tx, deps, id, [buildAskingTask('')])
      await changes.record(tx, [created.event])
      return { row, isRepeated: false }
    }
    const confirmed = await changes.confirm(tx, row, account, undefined)
    await changes.record(tx, [created.event, confirmed.event])
    return { row: confirmed.row, isRepeated: false }
  }

  async function takeFor(
    tx: Tx,
    ownerId: string,
    { experience, checked, hold }: Pick<Inserted, 'experience' | 'checked' | 'hold'>,
  ): Promise<StoredSlot> {
    if (hold === undefined) {
      return takeSlot(tx, { experience, checked, ownerId, expiresAt: null, nowMs: clock.now() })
    }
    const slot: StoredSlot = JSON.parse(hold.slot)
    // The answers of the guest may have led to other hosts than those of the hold.
    const hosts = slot.hosts.length > 0 ? slot.hosts : [experience.id]
    const isSame = checked.take === 'one' || hosts.length === checked.candidates.length
    if (!(await bookingStore(tx).removeHold(hold.id))) throw holdExpired()
    if (isSame && hosts.every((hostId) => checked.candidates.includes(hostId))) {
      await takeHold(tx, hold, ownerId)
      return slot
    }
    await blockStore(tx).deleteOwner(hold.id)
    return takeSlot(tx, { experience, checked, ownerId, expiresAt: null, nowMs: clock.now() })
  }

  return {
    links,
    create,

    async hold(slug: string, slot: SlotBody, options: HoldOptions): Promise<Held> {
      return holdSlot(deps, await experiences.getActive(slug), slot, options)
    },

    get: (id: string): Promise<BookingRow> => bookingStore(db.read).get(id),

    /** By the token of a link. Throws not_found for a wrong one, as for an unknown booking. */
    async byLink(id: string, token: string): Promise<{ row: BookingRow; role: LinkRole; isReader: boolean }> {
      const row = await bookingStore(db.read).find(id)
      const holder = row && links.findHolder(row, token)
      if (row === undefined || holder === undefined) {
        throw new AppError('not_found', { message: 'This link is not valid. Open it again from the message.' })
      }
      return { row, role: holder === 'host' ? 'host' : 'guest', isReader: holder === 'reader' }
    },

    async list({ from, to, ...query }: BookingQuery): Promise<Page<BookingRow>> {
      const errors: ErrorDetail[] = []
      const time = (name: string, text: string | undefined) => {
        const ms = text === undefined ? undefined : parseTime(text)
        if (text !== undefined && ms === undefined) {
          errors.push({ path: `query.${name}`, message: TIME_PROBLEM })
        }
        return ms
      }
      const range = { fromMs: time('from', from), toMs: time('to', to) }
      if (errors.length > 0) throw invalidFields(errors)
      return bookingStore(db.read).list({ ...query, ...range })
    },

    /** Repeating it changes nothing. Throws conflict when the booking has ended. */
    async cancel(id: string, by: Actor, reason: string | null, client?: string): Promise<BookingRow> {
      const booking = await bookingStore(db.read).get(id)
      return db.transaction(async (tx) => {
        const { account } = await changes.hold(tx, bookedHosts(booking))
        const row = await bookingStore(tx).lock(id, db.dialect)
        if (row.status === 'cancelled') return row
        if (row.status === 'rejected') throw conflict('The booking was rejected.')
        if (row.endMs <= clock.now()) throw conflict('The booking has taken place.')
        await cancelOpenMoves(tx, row.id)
        const notifiesGuests = by !== 'guest' || (await mayMail(tx, row, client))
        const cancelled = await changes.cancel(tx, row, account, { by, reason, notifiesGuests })
        await changes.record(tx, [cancelled.event])
        return cancelled.row
      })
    },

    /** The guest opened the link of a message. Attendees get theirs now. Repeating it changes nothing. */
    async confirmAddress(id: string, client: string): Promise<BookingRow> {
      const booking = await bookingStore(db.read).get(id)
      const experience = await experiences.findById(booking.experienceId)
      if (experience === undefined) throw conflict('The experience of this booking no longer exists.')
      const confirm = () =>
        db.transaction(async (tx) => {
          await changes.hold(tx, bookedHosts(booking))
          const row = await bookingStore(tx).lock(id, db.dialect)
          if (row.verifiedBy !== null || (row.status !== 'pending' && !isBooked(row))) return row
          const verified = await changes.verify(tx, row)
          await refundGuest(tx, budget, verified)
          await chargeMessages(tx, budget, verified, client)
          await rememberPeople(tx, budget, verified)
          return verified
        })
      return reportingLimits(deps, experience, confirm)
    },

    ...moves(deps),
    ...updates(deps),
  }

  /** The end of a booking is never refused. Where its messages would exceed a budget, only the hosts get one. */
  async function mayMail(tx: Tx, row: BookingRow, client: string | undefined): Promise<boolean> {
    try {
      await chargeMessages(tx, budget, row, client)
      return true
    } catch (error) {
      if (error instanceof MailLimited) return false
      throw error
    }
  }
}

export type Bookings = ReturnType<typeof bookings>

function refused(reason: string | null): AppError {
  return new AppError('slot_unavailable', reason === null ? {} : { message: reason })
}
