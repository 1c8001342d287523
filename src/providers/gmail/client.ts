import { randomUUID } from 'node:crypto'
import * as Type from 'typebox'
import type { Clock } from '../../platform/time/clock.ts'
import { ProviderError } from '../contract/index.ts'
import { batchResults, parser, type QuotaRefusal, type RestResponse } from '../shared/rest/index.ts'
import { type BatchRequest, batchBody, batchParts } from './batch-parts.ts'
import { gmailError, quotaRefusal } from './errors.ts'
import type { GmailMailbox } from './quota.ts'

export const ME = '/gmail/v1/users/me'
/** Google allows 100 but advises against more than 50: the parts run at once, and some are refused. */
const BATCH_SIZE = 50
/** A message with longer text is stored without its text; a live read returns it complete. */
const MAX_PART_BYTES = 4 * 1024 * 1024

const BATCH_DEADLINE_MS = 120_000

const parseProfile = parser(Type.Object({ historyId: Type.String({ pattern: '^[0-9]{1,30}$' }) }))
const parseIdList = parser(
  Type.Object({
    messages: Type.Optional(Type.Array(Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }))),
    nextPageToken: Type.Optional(Type.String()),
  }),
)

/** The current position of the mailbox's history. */
export function readProfile(mailbox: GmailMailbox, signal?: AbortSignal): Promise<{ historyId: string }> {
  return mailbox.json({ method: 'GET', path: `${ME}/profile`, doing: 'reading the profile', signal }, parseProfile)
}

interface ListQuery {
  maxResults?: number
  pageToken?: string | undefined
  q?: string | undefined
  labelIds?: string
  includeSpamTrash?: 'false'
}

/** One page of message ids, newest first; spam and trash included by default. */
export async function listPage(
  mailbox: GmailMailbox,
  query: ListQuery,
  signal?: AbortSignal,
): Promise<{ ids: string[]; next: string | undefined }> {
  const request = {
    method: 'GET',
    path: `${ME}/messages`,
    doing: 'listing messages',
    cost: mailbox.costs.list,
    signal,
  } as const
  const fullQuery = { includeSpamTrash: 'true', maxResults: 500, ...query }
  const { messages = [], nextPageToken } = await mailbox.json({ ...request, query: fullQuery }, parseIdList)
  return { ids: messages.map(({ id }) => id), next: nextPageToken || undefined }
}

/** The JSON of a message, or why there is none. */
export type FetchResult = object | 'too_long' | ProviderError

interface BatchOptions {
  doing: string
  clock: Clock
  /** Quota units of each request. */
  cost: number
  signal?: AbortSignal | undefined
  partBytes?: number
}

/**
 * Fetches messages in batches, and yields what each request returned before the next one. A message that does not exist is `not_found`;
 * one over `partBytes` is `too_long`.
 */
export async function* getMessages(
  mailbox: GmailMailbox,
  ids: readonly string[],
  options: { fields: string; clock: Clock; signal: AbortSignal; partBytes?: number },
): AsyncGenerator<Map<string, FetchResult>> {
  const { fields, ...rest } = options
  const format = fields.includes('payload') ? 'full' : 'minimal'
  const query = new URLSearchParams({ format, fields })
  const requests = ids.map((id) => ({ id, method: 'GET' as const, path: `${messagePath(id)}?${query}` }))
  const batches = sendBatches(mailbox, requests, { ...rest, doing: 'fetching messages', cost: mailbox.costs.message })
  for await (const results of batches) yield new Map([...results].map(([{ id }, result]) => [id, result]))
}

export function messagePath(id: string): string {
  return `${ME}/messages/${encodeURIComponent(id)}`
}

/**
 * Sends requests, all of which may be repeated, in batches, and yields the results of each. A response over `partBytes` is `too_long`,
 * one without JSON `{}`.
 */
export function sendBatches<Request extends BatchRequest>(
  mailbox: GmailMailbox,
  requests: readonly Request[],
  { doing, clock, cost, signal, partBytes = MAX_PART_BYTES }: BatchOptions,
): AsyncGenerator<Map<Request, FetchResult>> {
  async function send(batch: Request[]) {
    const boundary = `posthorn-${randomUUID()}`
    const { headers, body } = await mailbox.open({
      method: 'POST',
      isRepeatable: true,
      path: '/batch/gmail/v1',
      doing,
      signal,
      cost: batch.length * cost,
      hasParts: true,
      deadlineMs: BATCH_DEADLINE_MS,
      headers: { 'content-type': `multipart/mixed; boundary=${boundary}` },
      body: batchBody(batch, boundary),
    })
    const results = new Map<Request, FetchResult>()
    const parts = { accepted: 0, refused: 0, refusal: {} as QuotaRefusal }
    for await (const { index, response } of batchParts(body, headers['content-type'], partBytes)) {
      const request = batch[index]
      if (request === undefined) continue
      const result = toResult(response)
      results.set(request, result)
      const isRefused = result instanceof ProviderError && result.kind === 'rate_limited'
      if (isRefused && response !== undefined) parts.refusal = { ...parts.refusal, ...quotaRefusal(response) }
      parts[isRefused ? 'refused' : 'accepted'] += cost
    }
    const { accepted, refused, refusal } = parts
    mailbox.partsDone({ acceptedUnits: accepted, refusedUnits: refused, refusal })
    return results
  }

  function toResult(response: RestResponse | undefined): FetchResult {
    if (response === undefined) return 'too_long'
    // The batch request itself was authorised, so the token expired meanwhile. The user need not consent again.
    if (response.status === 401) return new ProviderError('unavailable', `${doing}: the access token expired`)
    if (response.status === 204) return {}
    // A change at the same time: the part is sent again.
    if (response.status === 409) return new ProviderError('unavailable', `${doing}: Gmail aborted the request`)
    if (response.status !== 200) return gmailError(response, doing, clock.now(), mailbox)
    if (typeof response.body === 'object' && response.body !== null) return response.body
    return new ProviderError('unavailable', `${doing}: a response could not be read`)
  }

  return batchResults(requests, {
    size: () => mailbox.batchSize(cost, BATCH_SIZE),
    send,
    doing,
    retry: mailbox.retry,
    signal,
    isolates: requests.every(({ method }) => method === 'GET'),
  })
}
