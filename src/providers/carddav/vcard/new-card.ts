import type { ContactFields } from '../../contract/index.ts'
import type { Card } from './card.ts'
import { applyFields, touch } from './write.ts'

/** A new contact in vCard 3.0, which every server accepts (RFC 6352, 6.3.2.2). */
export function newCard(uid: string, contact: ContactFields, nowMs: number): Card {
  const card: Card = { lines: ['VERSION:3.0', 'PRODID:-//Posthorn//Posthorn//EN', `UID:${uid}`] }
  applyFields(card, contact)
  touch(card, nowMs)
  return card
}
