import { zoneOf } from '../../../platform/calendar/zone.ts'
import { ianaZone } from '../../../platform/calendar/zone-names.ts'
import { ProviderError } from '../../contract/index.ts'
import { list, object, text } from '../../shared/rest/index.ts'
import type { Graph } from '../client.ts'

export interface MailboxRequest {
  email: string
  nowMs: number
  signal: AbortSignal
}

const DOING = 'reading the time zone of the mailbox'
const HOUR_MS = 3_600_000

/**
 * The zone of the mailbox's working hours, which `getSchedule` returns with the permission to read calendars; the settings of a mailbox need one
 * of their own. Null for personal accounts, which have no schedules, and for a zone that a user has defined.
 */
export async function mailboxZone(graph: Graph, { email, nowMs, signal }: MailboxRequest): Promise<string | null> {
  const utc = (ms: number) => ({ dateTime: new Date(ms).toISOString().slice(0, 19), timeZone: 'UTC' })
  // Any time will do: only the working hours are read.
  const times = { startTime: utc(nowMs), endTime: utc(nowMs + HOUR_MS), availabilityViewInterval: 60 }
  const body = { schedules: [email], ...times }
  try {
    const change = { body, doing: DOING, signal, isRepeatable: true }
    const response = await graph.send('POST', '/me/calendar/getSchedule', change)
    const { workingHours } = object(list(response.value)[0])
    const name = text(object(object(workingHours).timeZone).name) ?? ''
    return zoneOf(ianaZone(name) ?? '')?.name ?? null
  } catch (error) {
    // The list of calendars, which needs the same scope, has been read before.
    if (error instanceof ProviderError && (error.kind === 'rejected' || error.kind === 'not_found')) return null
    throw error
  }
}
