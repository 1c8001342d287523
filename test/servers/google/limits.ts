import type { PublishedLimit } from '../fake/limits.ts'
import { googleError } from './errors.ts'

const MINUTE = 60_000
const isCalendar = (endpoint: string) => / \/calendar\//.test(endpoint)
const isDirectory = (endpoint: string) => / \/admin\/directory\//.test(endpoint)
const ofProject = () => ''
const ofUser = ({ user }: { user: string | null }) => user ?? ''

/** How much of Google's limits a test allows. */
export interface GoogleLimits {
  /** Requests to Calendar in a minute. */
  calendarOfProject?: number
}

/**
 * Google's limits beside that of a Gmail user (`Quota`): of the project at Gmail, at Calendar, and at the Admin SDK
 * (https://developers.google.com/workspace/gmail/api/reference/quota, …/calendar/api/guides/quota, …/admin/directory/v1/limits).
 */
export function googleLimits(
  findGmailUnits: (endpoint: string) => number,
  { calendarOfProject = 10_000 }: GoogleLimits = {},
): readonly PublishedLimit[] {
  const calendar = { perMs: MINUTE, units: ({ endpoint }: { endpoint: string }) => (isCalendar(endpoint) ? 1 : 0) }
  return [
    {
      name: 'gmail.googleapis.com per minute',
      most: 1_200_000,
      perMs: MINUTE,
      units: ({ endpoint }) => (/ (\/upload)?\/gmail\//.test(endpoint) ? findGmailUnits(endpoint) : 0),
      key: ofProject,
    },
    { name: 'calendar-json.googleapis.com per minute', most: calendarOfProject, ...calendar, key: ofProject },
    { name: 'calendar-json.googleapis.com per minute per user', most: 600, ...calendar, key: ofUser },
    {
      name: 'admin.googleapis.com per minute per user',
      most: 2400,
      perMs: MINUTE,
      units: ({ endpoint }) => (isDirectory(endpoint) ? 1 : 0),
      key: ofUser,
    },
  ]
}

export function limitExceeded({ name }: PublishedLimit): Response {
  const [service, ...limit] = name.split(' ')
  const message = `Quota exceeded for quota metric 'Queries' and limit 'Queries ${limit.join(' ')}' of service '${service}' for consumer 'project_number:123456789012'.`
  return googleError(403, 'rateLimitExceeded', 'PERMISSION_DENIED', message, { domain: 'usageLimits' })
}
