import { createHmac } from 'node:crypto'
import { canonical } from '../../../platform/crypto/canonical.ts'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import { sameText } from '../../../platform/crypto/signature.ts'
import type { Slot } from '../../contract.ts'

/** Proofs that an availability callback returned a slot of an experience with these participants and this metadata. */
export interface SlotTokens {
  /** Valid until `expiresAt`, in milliseconds. */
  issue(experienceId: string, slot: Slot, expiresAt: number): string
  /** Takes constant time. */
  isValid(token: string, experienceId: string, slot: Slot, nowMs: number): boolean
}

const TOKEN = /^(\d{1,15})\.[\w-]{43}$/

export function slotTokens(sealer: Sealer): SlotTokens {
  const key = sealer.derive('slot tokens of experiences')

  function issue(experienceId: string, slot: Slot, expiresAt: number): string {
    const { start, end, timezone, participants, metadata } = slot
    const proven = JSON.stringify([
      experienceId,
      start,
      end,
      timezone,
      canonical(participants),
      canonical(metadata),
      expiresAt,
    ])
    return `${expiresAt}.${createHmac('sha256', key).update(proven).digest('base64url')}`
  }

  return {
    issue,
    isValid(token, experienceId, slot, nowMs) {
      const [, expiresAt] = TOKEN.exec(token) ?? []
      if (expiresAt === undefined || Number(expiresAt) <= nowMs) return false
      return sameText(token, issue(experienceId, slot, Number(expiresAt)))
    },
  }
}
