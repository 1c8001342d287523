import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import type { Clock } from '../../lib/clock.ts'
import { ProviderError } from '../contract/index.ts'
import { inBatches, type RestMailbox, type RestResponse, shape } from '../rest/index.ts'
import { batchBody, batchParts } from './batch-parts.ts'
import { gmailFailure } from './errors.ts'

export const ME = '/gmail/v1/users/me'
/** In quota units. */
export const COST = { message: 5, list: 5, history: 2, attachment: 5, watch: 100, stop: 50 }
/** Google allows 100 and advises against more than 50: their parts are run at once and refused in part. */
const BATCH_SIZE = 50
/** A text longer than this is left out of what is stored; read live it comes whole. */
const PART_BYTES = 4 * 1024 * 1024

const profile = shape(Type.Object({ historyId: Type.String({ pattern: '^[0-9]{1,30}$' }) }))
const idList = shape(
  Type.Object({
    messages: Type.Optional(Type.Array(Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }))),
    nextPageToken: Type.Optional(Type.String()),
  }),
)

/** Where the history of the mailbox stands now. */
export function readProfile(mailbox: RestMailbox, signal?: AbortSignal): Promise<{ historyId: string }> {
  return mailbox.json({ method: 'GET', path: `${ME}/profile`, doing: 'reading the profile', signal }, profile)
}

export interface ListQuery {
  maxResults?: number
  pageToken?: string | undefined
  q?: string | undefined
  labelIds?: string
}

/** One page of message ids, newest first, of the spam and the trash too. */
export async function listPage(
  mailbox: RestMailbox,
  query: ListQuery,
  signal: AbortSignal,
): Promise<{ ids: string[]; next: string | undefined }> {
  const request = { method: 'GET', path: `${ME}/messages`, doing: 'listing messages', cost: COST.list, signal } as const
  const asked = { includeSpamTrash: 'true', maxResults: 500, ...query }
  const { messages = [], nextPageToken } = await mailbox.json({ ...request, query: asked }, idList)
  return { ids: messages.map(({ id }) => id), next: nextPageToken || undefined }
}

/** What became of each message: its JSON, `not_found`, or what else lasts. One too long comes as `too_long`. */
export async function getMessages(
  mailbox: RestMailbox,
  ids: readonly string[],
  options: { fields: string; clock: Clock; signal: AbortSignal; partBytes?: number },
): Promise<Map<string, object | 'too_long' | ProviderError>> {
  const { fields, clock, signal, partBytes = PART_BYTES } = options
  const doing = 'fetching messages'
  const format = fields.includes('payload') ? 'full' : 'minimal'
  const query = new URLSearchParams({ format, fields })

  async function send(asked: string[]) {
    const boundary = `posthorn-${randomUUID()}`
    const { headers, body } = await mailbox.open({
      ...{ method: 'POST', isRead: true, path: '/batch/gmail/v1', doing, cost: asked.length * COST.message, signal },
      headers: { 'content-type': `multipart/mixed; boundary=${boundary}` },
      body: batchBody(
        asked.map((id) => `${ME}/messages/${encodeURIComponent(id)}?${query}`),
        boundary,
      ),
    })
    const answers = new Map<string, object | 'too_long' | ProviderError>()
    for await (const { index, answer } of batchParts(body, headers['content-type'], partBytes)) {
      const id = asked[index]
      if (id !== undefined) answers.set(id, outcome(answer))
    }
    return answers
  }

  function outcome(answer: RestResponse | undefined): object | 'too_long' | ProviderError {
    if (answer === undefined) return 'too_long'
    // The batch itself was let in: its token has just run out, which is no matter for the user.
    if (answer.status === 401) return new ProviderError('unavailable', `${doing}: the token ran out`)
    if (answer.status !== 200) return gmailFailure(answer, doing, clock.now())
    if (typeof answer.body === 'object' && answer.body !== null) return answer.body
    return new ProviderError('unavailable', `${doing}: an answer could not be read`)
  }

  return inBatches(ids, { size: BATCH_SIZE, send, doing, signal })
}
