import * as Type from 'typebox'
import { ProviderError } from '../../contract/index.ts'
import {
  type FailedRequest,
  type Json,
  object,
  parser,
  type RateLimit,
  type RestMailbox,
  type RestResponse,
  text,
} from '../../shared/rest/index.ts'
import { googleError, readReasons } from '../errors.ts'
import { LISTED_FIELDS, PERSON_FIELDS } from './map.ts'

/** Users report Google's default: 90 requests a minute for a user. */
const UNITS_PER_MINUTE = 90
/** A first sync of 7,500 contacts is one burst. */
const BURST = 30
export const RATE_LIMIT: RateLimit = {
  concurrency: 4,
  quota: { unitsPerMinute: UNITS_PER_MINUTE, burst: BURST, unlimited: 'urgent' },
}
/** Google asks for the changes of one user one after the other. */
export const CHANGE_LIMIT: RateLimit = {
  concurrency: 1,
  quota: { unitsPerMinute: UNITS_PER_MINUTE, burst: BURST, unlimited: 'urgent' },
}

/** Google allows 1,000. It is a part of each token, so that another size means another listing. */
const PAGE_PERSONS = 250
const MAX_BYTES = 32 * 1024 * 1024
/** Of a note, 8,192 characters are kept. */
const MAX_STRING = 64 * 1024
/** Another change of the same user was in progress. */
const ABORTED_MS = 500

const API = { name: 'the People API (people.googleapis.com)', scope: 'contacts' }
/** Only what the user has stored. Profiles of the same persons cannot be changed. */
const SOURCES = 'READ_SOURCE_TYPE_CONTACT'

export function peopleError(
  response: RestResponse,
  doing: string,
  nowMs: number,
  request?: Pick<FailedRequest, 'isApplication'>,
): ProviderError {
  const reasons = readReasons(response.body)
  const status = text(object(object(response.body).error).status)
  if (reasons.includes('EXPIRED_SYNC_TOKEN')) {
    return new ProviderError('cursor_expired', `${doing}: the sync token has expired`)
  }
  if (response.status === 409 && (status === 'ABORTED' || reasons.includes('aborted'))) {
    const why = 'Google is busy with another change of this user'
    return new ProviderError('rate_limited', `${doing}: ${why}`, { retryAfterMs: ABORTED_MS })
  }
  if (response.status === 409) return new ProviderError('exists', `${doing}: the name is taken`)
  if (response.status === 400 && (status === 'FAILED_PRECONDITION' || reasons.includes('failedPrecondition'))) {
    return new ProviderError('conflict', `${doing}: another version is stored`)
  }
  return googleError(response, doing, nowMs, { ...API, ...request })
}

const parseConnections = parser(
  Type.Object({
    connections: Type.Optional(Type.Array(Type.Unknown())),
    nextPageToken: Type.Optional(Type.String()),
    nextSyncToken: Type.Optional(Type.String()),
  }),
)

export interface PersonPage {
  items: Json[]
  /** The next page; undefined on the last one. */
  next: string | undefined
  /** On the last page only. */
  syncToken: string | undefined
}

/** One page of the contacts, or of their changes since `syncToken`. Google compares all other parameters with those of the first request. */
export async function connectionPage(
  mailbox: RestMailbox,
  tokens: { pageToken?: string | undefined; syncToken?: string | undefined },
  { doing, signal }: { doing: string; signal: AbortSignal },
): Promise<PersonPage> {
  const query = {
    personFields: PERSON_FIELDS,
    sources: SOURCES,
    pageSize: PAGE_PERSONS,
    requestSyncToken: 'true',
    ...tokens,
    fields: `nextPageToken,nextSyncToken,connections(${LISTED_FIELDS})`,
  }
  const request = { method: 'GET', path: '/v1/people/me/connections', query, doing, signal } as const
  const page = await mailbox.json({ ...request, maxBytes: MAX_BYTES, maxString: MAX_STRING }, parseConnections)
  const { connections = [], nextPageToken, nextSyncToken } = page
  return { items: connections.map(object), next: nextPageToken || undefined, syncToken: nextSyncToken || undefined }
}

/** The contacts that changed last, with the data that applications store in them. */
export async function latestPersons(
  mailbox: RestMailbox,
  count: number,
  { doing, signal }: { doing: string; signal: AbortSignal },
): Promise<Json[]> {
  const query = { ...PERSON_QUERY, pageSize: count, sortOrder: 'LAST_MODIFIED_DESCENDING' }
  const request = { method: 'GET', path: '/v1/people/me/connections', query, doing, signal } as const
  return ((await mailbox.json(request, parseConnections)).connections ?? []).map(object)
}

/** With every member of each field, since a change replaces fields as a whole. */
export const PERSON_QUERY = { personFields: `${PERSON_FIELDS},clientData`, sources: SOURCES }

export function readPerson(
  mailbox: RestMailbox,
  contactId: string,
  { doing, signal }: { doing: string; signal: AbortSignal },
): Promise<Json> {
  const path = personPath(contactId, doing)
  return mailbox.json({ method: 'GET', path, query: PERSON_QUERY, doing, signal }, object)
}

/** Ids are resource names, which are parts of paths: `people/c1234`. */
export function personPath(contactId: string, doing: string, action = ''): string {
  if (!/^people\/[\w-]+$/.test(contactId)) throw new ProviderError('not_found', `${doing}: not found`)
  return `/v1/${contactId}${action}`
}
