import type { Card } from './card.ts'
import { linesNamed } from './card.ts'
import { isGroup, MEMBER_NAMES } from './map.ts'

/** Adds a member, in the words of the card: RFC 6350, or Apple's for vCard 3.0. Returns false when it is one already, or the card no group. */
export function joinGroup(card: Card, uid: string): boolean {
  if (!isGroup(card) || memberLines(card, uid).length > 0) return false
  const isApple = linesNamed(card, ['X-ADDRESSBOOKSERVER-KIND'], 1).length > 0
  card.lines.push(`${isApple ? 'X-ADDRESSBOOKSERVER-MEMBER' : 'MEMBER'}:urn:uuid:${uid}`)
  return true
}

export function leaveGroup(card: Card, uid: string): boolean {
  const removed = new Set(memberLines(card, uid))
  if (removed.size === 0) return false
  card.lines = card.lines.filter((_text, index) => !removed.has(index))
  return true
}

function memberLines(card: Card, uid: string): number[] {
  return linesNamed(card, MEMBER_NAMES, Number.MAX_SAFE_INTEGER)
    .filter(({ line }) => line.value.trim().replace(/^urn:uuid:/i, '') === uid)
    .map(({ index }) => index)
}
