import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { yieldIfHeld } from '../../../lib/event-loop.ts'
import { isoTime } from '../../../lib/time.ts'
import { defaultMinutes } from '../availability/rules.ts'
import type { CheckedSlot, CheckOptions, Slot, SlotChoice, SlotFinder, SlotList } from '../contract.ts'
import type { Experience } from '../experiences/experience.ts'
import type { ApplicationCallbacks } from './callbacks.ts'
import type { SlotTokens } from './tokens.ts'

export interface CallbackFinderDeps {
  callbacks: Pick<ApplicationCallbacks, 'findSlots'>
  tokens: SlotTokens
  clock: Clock
  existingAccounts(ids: readonly string[]): Promise<Set<string>>
}

const MINUTE_MS = 60_000
const TURN_MS = 8
/** Of a token, when the application does not say how long its slots are valid. */
const TOKEN_MS = 5 * MINUTE_MS
const MAX_HOSTS = 100
const MAX_SLOT_MS = 24 * 60 * MINUTE_MS

/** Slots of experiences with an availability endpoint. Every list asks the application: nothing is cached. */
export function callbackFinder({ callbacks, tokens, clock, existingAccounts }: CallbackFinderDeps): SlotFinder {
  return {
    async list(experience, request, signal) {
      const { generatedAt, expiresAt, timezone, slots } = await callbacks.findSlots(experience, request, signal)
      const nowMs = clock.now()
      const { from, to } = request.range
      const listed: SlotList['slots'] = []
      for (const slot of slots) {
        // An application may answer with complete days.
        if (slot.start < from || slot.end > to || slot.start <= nowMs) continue
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

    async check(experience, choice, options) {
      const slot = provenSlot(experience, choice) ?? (await askedSlot(experience, choice, options))
      return { slot, ...(await hostsOf(experience, slot)) }
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
    const lengthMs = end === undefined ? usual * MINUTE_MS : end - start
    if (start <= clock.now() || lengthMs > MAX_SLOT_MS) throw new AppError('slot_unavailable')
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

  /** Those that the slot names, else those of the experience, else the experience itself. */
  async function hostsOf(
    { id, definition }: Experience,
    { metadata }: Slot,
  ): Promise<Pick<CheckedSlot, 'take' | 'candidates'>> {
    const named = [metadata.accountId, metadata.accountIds].flat().filter((one) => typeof one === 'string')
    // Applications may use these members for ids of their own.
    const known = await existingAccounts([...new Set(named)].slice(0, MAX_HOSTS))
    const { defaultAccountIds, availability } = definition
    if (known.size > 0) return { take: 'every', candidates: [...known] }
    if (defaultAccountIds.length === 0) return { take: 'every', candidates: [id] }
    return { take: availability?.assignment === 'round_robin' ? 'one' : 'every', candidates: defaultAccountIds }
  }
}
