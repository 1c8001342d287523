import { truncateText } from '../platform/formats/text.ts'
import type { RemoteEvent } from '../providers/contract/index.ts'

const MAX_CHARACTERS = 4096
const MAX_WORDS = 20

/** Builds the text that `q` searches: summary, place, description and people, without case and accents. */
export function buildSearchText(event: RemoteEvent): string {
  const people = [...event.attendees, ...(event.organizer === null ? [] : [event.organizer])]
  const parts = [event.summary, event.location, event.description]
  for (const { email, displayName } of people) parts.push(displayName, email)
  return truncateText(folded(truncateText(parts.join('\n'), MAX_CHARACTERS)), MAX_CHARACTERS)
}

/** The words of a search, all of which an event must contain, also within longer words. */
export function searchWords(q: string): string[] {
  return folded(q).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)
}

function folded(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().toWellFormed()
}
