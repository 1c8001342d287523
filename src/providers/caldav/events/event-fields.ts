import { type Component, property, readText } from '../../../platform/calendar/components.ts'
import type { ContentLine } from '../../../platform/calendar/content-line.ts'
import { parseLocal } from '../../../platform/calendar/days.ts'
import { parseDuration } from '../../../platform/calendar/duration.ts'
import type { RemoteEvent } from '../../contract/index.ts'

/** Outlook writes what a person chose into a property of its own, sometimes without TRANSP. */
export function isBusy(event: Component): boolean {
  const transparency = readText(event, 'TRANSP').trim().toUpperCase()
  if (transparency !== '') return transparency !== 'TRANSPARENT'
  return readText(event, 'X-MICROSOFT-CDO-BUSYSTATUS').trim().toUpperCase() !== 'FREE'
}

export function mapStatus(event: Component): RemoteEvent['status'] {
  const status = readText(event, 'STATUS').trim().toUpperCase()
  return status === 'CANCELLED' ? 'cancelled' : status === 'TENTATIVE' ? 'tentative' : 'confirmed'
}

export function mapVisibility(event: Component): RemoteEvent['visibility'] {
  const visibility = readText(event, 'CLASS').trim().toLowerCase()
  return visibility === 'public' || visibility === 'private' || visibility === 'confidential' ? visibility : 'default'
}

const CONFERENCES = [
  ['X-GOOGLE-CONFERENCE', 'hangoutsMeet'],
  ['X-MICROSOFT-SKYPETEAMSMEETINGURL', 'teamsForBusiness'],
  ['CONFERENCE', 'conference'],
] as const

export function mapConference(event: Component): RemoteEvent['conference'] {
  for (const [name, type] of CONFERENCES) {
    const url = property(event, name)?.value.trim() ?? ''
    if (/^https?:/i.test(url)) return { type, url }
  }
  return null
}

/** Alarms before the start; others have no counterpart. */
export function mapReminders(event: Component): RemoteEvent['reminders'] {
  return event.components.slice(0, 20).flatMap((alarm): RemoteEvent['reminders'] => {
    const trigger = alarm.name === 'VALARM' ? property(alarm, 'TRIGGER') : undefined
    const ms =
      trigger?.parameters.get('RELATED')?.toUpperCase() === 'END' ? undefined : parseDuration(trigger?.value ?? '')
    if (ms === undefined || ms > 0) return []
    const method = readText(alarm, 'ACTION').toUpperCase() === 'EMAIL' ? 'email' : 'popup'
    return [{ method, minutes: Math.round(-ms / 60_000) + 0 }]
  })
}

export function parseInstant(line: ContentLine | undefined): number | null {
  return parseLocal(line?.value.trim().replace(/z$/i, '') ?? '') ?? null
}
