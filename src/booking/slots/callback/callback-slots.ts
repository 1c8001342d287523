import { yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { TimeRange } from '../../../providers/contract/index.ts'
import type { ApplicationCallbacks } from '../../callbacks/callbacks.ts'
import type { CheckedSlot, CheckOptions, Slot, SlotChoice, SlotFinder, SlotList } from '../../contract.ts'
import type { Experience } from '../../experiences/experience.ts'
import type { BlockRow } from '../../tables.ts'
import { blockStore } from '../blocks.ts'
import { defaultMinutes, MAX_LENGTH_MS, readRules, toLengthMs } from '../slot-rules.ts'
import { takenStarts } from '../taken-with-buffers.ts'
import type { SlotTokens } from './tokens.ts'

interface CallbackFinderDeps {
  db: Db
  callbacks: Pick<ApplicationCallbacks, 'findSlots'>
  tokens: SlotTokens
  clock: Clock
  existingAccounts(ids: readonly string[]): Promise<Set<string>>
}

const MINUTE_MS = 60_000
const TURN_MS = 8
/** The lifetime of a token when the application does not say how long its slots are valid. */
const TOKEN_MS = 5 * MINUTE_MS
const MAX_HOSTS = 100

/** Slots of experiences with an availability endpoint. Every list asks the application: nothing is cached. */
export function callbackFinder({ db, callbacks, tokens, clock, existingAccounts }: CallbackFinderDeps): SlotFinder {
  return {
    async list(experience, request, signal) {
      const { generatedAt, expiresAt, timezone, slots } = await callbacks.findSlots(experience, request, signal)
      const nowMs = clock.now()
      const { from, to } = request.range
      // An application may answer with complete days.
      const inside = slots.filter(({ start, end }) => start >= from && end <= to && start > nowMs)
      const listed: SlotList['slots'] = []
      for (const slot of await bookable(experience, inside, request.range)) {
        listed.push({ ...slot, token: tokens.issue(experience.id, slot, expiresAt ?? nowMs + TOKEN_MS) })
        await yieldIfHeld(TURN_MS)
      }
      return {
        slots: listed,
        generatedAt: isoTime(generatedAt),
        expiresAt: expiresAt === null ? null : isoTime(expiresAt),
        timezone,
      }
    },

    async freeTimes(experience, { range, lengthMs, requestId }, signal) {
      const request = { range, durationMinutes: lengthMs / MINUTE_MS, requestId }
      const { slots } = await callbacks.findSlots(experience, request, signal)
      const nowMs = clock.now()
      const inside = slots.filter(({ start, end }) => start >= range.from && end <= range.to && start > nowMs)
      const free = await bookable(experience, inside, range)
      const existing = await accountsIn(free)
      return free.map((slot) => ({
        start: slot.start,
        end: slot.end,
        hosts: chooseHosts(experience, slot, existing).candidates,
      }))
    },

    async check(experience, choice, options) {
      const slot = provenSlot(experience, choice) ?? (await askedSlot(experience, choice, options))
      return { slot, ...chooseHosts(experience, slot, await accountsIn([slot])) }
    },
  }

  /** The slot as the guest sent it, if its token says that the application returned it. */
  function provenSlot(experience: Experience, choice: SlotChoice): Slot | undefined {
    const { start, end, token, timezone = experience.timezone, participants = [], metadata = {} } = choice
    if (end === undefined || token === undefined || start <= clock.now()) return undefined
    const slot = { start, end, timezone, participants, metadata }
    return tokens.isValid(token, experience.id, slot, clock.now()) ? slot : undefined
  }

  async function askedSlot(experience: Experience, { start, end, timezone }: SlotChoice, options: CheckOptions) {
    const { responses, metadata, requestId, signal } = options
    const usual = defaultMinutes(experience.definition.availability ?? {})
    const lengthMs = end === undefined ? toLengthMs(usual) : end - start
    if (start <= clock.now() || lengthMs > MAX_LENGTH_MS) throw new AppError('slot_unavailable')
    const request = {
      range: { from: start, to: start + lengthMs },
      durationMinutes: lengthMs / MINUTE_MS,
      ...(timezone !== undefined && { timezone }),
      ...(responses !== undefined && { bookingFormResponse: responses }),
      ...(metadata !== undefined && { metadata }),
      ...(requestId !== undefined && { requestId }),
    }
    const { slots } = await callbacks.findSlots(experience, request, signal)
    const found = slots.find((slot) => slot.start === start && slot.end === start + lengthMs)
    if (found === undefined) throw new AppError('slot_unavailable')
    return found
  }

  async function accountsIn(slots: readonly Slot[]): Promise<Set<string>> {
    const named = new Set(slots.flatMap(namedHosts))
    const existing = new Set<string>()
    for (const some of portions([...named])) for (const id of await existingAccounts(some)) existing.add(id)
    return existing
  }

  /** Leaves out slots that other guests booked or hold: the application may not know yet. */
  async function bookable(experience: Experience, slots: readonly Slot[], range: TimeRange): Promise<Slot[]> {
    const existing = await accountsIn(slots)
    const hosts = slots.map((slot) => chooseHosts(experience, slot, existing))
    const rules = readRules(experience)
    const blocks = new Map<string, BlockRow[]>(hosts.flatMap(({ candidates }) => candidates.map((id) => [id, []])))
    const around = { from: range.from - rules.beforeMs, to: range.to + rules.afterMs }
    for (const block of await blockStore(db.read).list([...blocks.keys()], around, { nowMs: clock.now() })) {
      blocks.get(block.hostId)?.push(block)
    }
    const taken = new Map<string, TimeRange[]>()
    const canHost = (hostId: string, { start, end }: Slot) => {
      const key = `${hostId} ${end - start}`
      const ranges = taken.get(key) ?? takenStarts({ busy: [], blocks: blocks.get(hostId) ?? [] }, end - start, rules)
      taken.set(key, ranges)
      return !ranges.some(({ from, to }) => from <= start && start < to)
    }
    const free: Slot[] = []
    for (const [index, slot] of slots.entries()) {
      const { take, candidates = [] } = hosts[index] ?? {}
      const isHostFree = (hostId: string) => canHost(hostId, slot)
      if (take === 'one' ? candidates.some(isHostFree) : candidates.every(isHostFree)) free.push(slot)
      await yieldIfHeld(TURN_MS)
    }
    return free
  }
}

/** Ids in the metadata of a slot, which are not necessarily those of accounts. */
function namedHosts({ metadata }: Slot): string[] {
  const named = [metadata.accountId, metadata.accountIds].flat().filter((id) => typeof id === 'string')
  return [...new Set(named)].slice(0, MAX_HOSTS)
}

/** The hosts that the slot names, else those of the experience, else the experience itself. */
function chooseHosts(
  { id, definition }: Experience,
  slot: Slot,
  existing: ReadonlySet<string>,
): Pick<CheckedSlot, 'take' | 'candidates'> {
  // Applications may use these members for ids of their own.
  const named = namedHosts(slot).filter((id) => existing.has(id))
  const { defaultAccountIds, availability } = definition
  if (named.length > 0) return { take: 'every', candidates: named }
  if (defaultAccountIds.length === 0) return { take: 'every', candidates: [id] }
  return { take: availability?.assignment === 'round_robin' ? 'one' : 'every', candidates: defaultAccountIds }
}

function portions(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / MAX_HOSTS) }, (_, index) =>
    ids.slice(index * MAX_HOSTS, (index + 1) * MAX_HOSTS),
  )
}
