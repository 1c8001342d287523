import type { GoogleMessage } from '@emulators/google'
import type { Route, Routed } from '../fake/router.ts'
import type { Emulator } from './emulator.ts'
import { badRequest, googleError, notFound } from './errors.ts'
import { type Format, findAttachment, messageResource } from './payload.ts'
import { matching } from './query.ts'

const BASE = '/gmail/v1/users/{userId}'
const FORMATS: readonly string[] = ['full', 'metadata', 'minimal', 'raw']

/** Adds to the emulator: the profile, lists that are stable while mail arrives, payloads of raw messages, expired history. */
export interface Gmail {
  routes: Route[]
  /** The newest historyId of a mailbox. */
  historyId(user: string): string
  /** Gives a new mailbox its first historyId. */
  begin(user: string): void
  /** Makes every historyId issued so far too old to start from. */
  expireHistory(user: string): void
}

/** Calls `changed` after every request that may have changed a mailbox. */
export function gmail(emulator: Emulator, changed: (user: string) => void): Gmail {
  /** The oldest historyId that a client may start from, by user. */
  const horizons = new Map<string, string>()
  function horizon(user: string): string {
    const current = horizons.get(user) ?? emulator.nextHistoryId()
    horizons.set(user, current)
    return current
  }

  function historyId(user: string): string {
    const first = horizon(user)
    const newest = emulator.google.history.findBy('user_email', user).at(-1)?.gmail_id ?? '0'
    return BigInt(newest) > BigInt(first) ? newest : first
  }

  async function forward(request: Routed): Promise<Response> {
    const user = request.user ?? ''
    const hasBody = request.method !== 'GET' && request.body.length > 0
    const response = await emulator.request(`${request.url.pathname}${request.url.search}`, {
      method: request.method,
      user,
      headers: hasBody ? { 'content-type': 'application/json' } : {},
      ...(hasBody ? { body: new Uint8Array(request.body) } : {}),
    })
    if (request.method !== 'GET' && response.ok) changed(user)
    return response
  }

  function profile({ user }: Routed) {
    const messages = emulator.messages(user ?? '')
    return Response.json({
      emailAddress: user,
      messagesTotal: messages.length,
      threadsTotal: new Set(messages.map((message) => message.thread_id)).size,
      historyId: historyId(user ?? ''),
    })
  }

  /** The emulator's list contains message counts; Gmail's does not. */
  async function labels(request: Routed) {
    const response = (await (await forward(request)).json()) as { labels: Record<string, unknown>[] }
    const counts = ['messagesTotal', 'messagesUnread', 'threadsTotal', 'threadsUnread']
    for (const label of response.labels) for (const name of counts) delete label[name]
    return Response.json(response)
  }

  function list(request: Routed) {
    const query = request.url.searchParams
    const labelIds = query.getAll('labelIds')
    const pageSize = limit(query.get('maxResults'))
    const hidden =
      query.get('includeSpamTrash') === 'true' ? [] : ['SPAM', 'TRASH'].filter((id) => !labelIds.includes(id))
    const token = query.get('pageToken')
    const after = token === null ? undefined : parsePageToken(token)
    if (after === null) return badRequest('Invalid pageToken')
    const found = emulator
      .messages(request.user ?? '')
      .filter((message) => labelIds.every((id) => message.label_ids.includes(id)))
      .filter((message) => !hidden.some((id) => message.label_ids.includes(id)))
      .filter(matching(query.get('q') ?? ''))
      .sort(newestFirst)
    const rest = after ? found.filter((message) => newestFirst(after, message) < 0) : found
    const page = rest.slice(0, pageSize)
    const last = page.at(-1)
    return Response.json({
      ...(page.length > 0
        ? { messages: page.map(({ gmail_id, thread_id }) => ({ id: gmail_id, threadId: thread_id })) }
        : {}),
      ...(last && rest.length > pageSize ? { nextPageToken: pageToken(last) } : {}),
      resultSizeEstimate: found.length,
    })
  }

  function get(request: Routed) {
    const message = emulator.message(request.user ?? '', request.params.id ?? '')
    if (!message) return notFound()
    const format = request.url.searchParams.get('format')?.toLowerCase() ?? 'full'
    if (!FORMATS.includes(format)) return badRequest(`Invalid format ${format}`)
    return Response.json(messageResource(message, format as Format, request.url.searchParams.getAll('metadataHeaders')))
  }

  /** Gmail refuses labels that only it assigns, and a change of nothing. The emulator refuses unknown ones. */
  async function modify(request: Routed) {
    const { addLabelIds = [], removeLabelIds = [] } = JSON.parse(request.body.toString() || '{}') as LabelChange
    if (!emulator.message(request.user ?? '', request.params.id ?? '')) return notFound()
    const changedIds = [...addLabelIds, ...removeLabelIds]
    if (changedIds.length === 0) return badRequest('No label add or removes specified')
    const invalid = changedIds.find((id) => FIXED_LABELS.includes(id))
    if (invalid !== undefined) return badRequest(`Invalid label: ${invalid}`)
    // A message in the trash or in spam is not in the inbox.
    const leaves = addLabelIds.some((id) => id === 'TRASH' || id === 'SPAM') ? ['INBOX'] : []
    const body = Buffer.from(JSON.stringify({ addLabelIds, removeLabelIds: [...removeLabelIds, ...leaves] }))
    return forward({ ...request, body })
  }

  /** Gmail's status for a name that is taken; the emulator has another. */
  async function saveLabel(request: Routed) {
    const response = await forward(request)
    if (response.status !== 400 || !(await response.clone().text()).includes('exists or conflicts')) return response
    return googleError(409, 'aborted', 'ABORTED', 'Label name exists or conflicts')
  }

  function attachment(request: Routed) {
    const message = emulator.message(request.user ?? '', request.params.messageId ?? '')
    const found = message && findAttachment(message, request.params.id ?? '')
    return found ? Response.json(found) : notFound()
  }

  async function history(request: Routed) {
    const user = request.user ?? ''
    const start = request.url.searchParams.get('startHistoryId') ?? ''
    if (!/^\d+$/.test(start)) return badRequest('Invalid startHistoryId')
    if (BigInt(start) < BigInt(horizon(user))) return notFound()
    const response = (await (await forward(request)).json()) as { history: unknown[]; historyId: string }
    const { history: entries, ...rest } = response
    return Response.json({ ...(entries.length > 0 ? { history: entries } : {}), ...rest, historyId: historyId(user) })
  }

  return {
    historyId,
    begin: horizon,
    expireHistory(user) {
      horizons.set(user, emulator.nextHistoryId())
    },
    routes: [
      { method: 'GET', pattern: `${BASE}/profile`, handle: profile },
      { method: 'GET', pattern: `${BASE}/labels`, handle: labels },
      { method: 'GET', pattern: `${BASE}/messages`, handle: list },
      { method: 'GET', pattern: `${BASE}/messages/{id}`, handle: get },
      { method: 'POST', pattern: `${BASE}/messages/{id}/modify`, handle: modify },
      { method: 'POST', pattern: `${BASE}/labels`, handle: saveLabel },
      { method: 'PATCH', pattern: `${BASE}/labels/{id}`, handle: saveLabel },
      { method: 'GET', pattern: `${BASE}/messages/{messageId}/attachments/{id}`, handle: attachment },
      { method: 'GET', pattern: `${BASE}/history`, handle: history },
      ...EMULATOR_ROUTES.map(([method, path]) => ({ method, pattern: `${BASE}/${path}`, handle: forward })),
    ].map((route) => ({
      ...route,
      handle: (request: Routed) => (isSelf(request) ? route.handle(request) : notFound()),
    })),
  }
}

interface LabelChange {
  addLabelIds?: string[]
  removeLabelIds?: string[]
}

const FIXED_LABELS = ['SENT', 'DRAFT']

const EMULATOR_ROUTES: [string, string][] = [
  ['GET', 'labels/{id}'],
  ['PUT', 'labels/{id}'],
  ['DELETE', 'labels/{id}'],
  ['POST', 'messages/batchModify'],
  ['POST', 'messages/batchDelete'],
  ['POST', 'messages/{id}/trash'],
  ['POST', 'messages/{id}/untrash'],
  ['DELETE', 'messages/{id}'],
]

const isSelf = ({ params, user }: Routed) =>
  params.userId === 'me' || params.userId?.toLowerCase() === user?.toLowerCase()

function limit(value: string | null): number {
  const number = Number(value ?? 100)
  return Number.isInteger(number) && number > 0 ? Math.min(number, 500) : 100
}

type Position = Pick<GoogleMessage, 'internal_date' | 'gmail_id'>
const newestFirst = (left: Position, right: Position): number =>
  Number(right.internal_date) - Number(left.internal_date) ||
  (left.gmail_id < right.gmail_id ? 1 : left.gmail_id > right.gmail_id ? -1 : 0)

/** A page starts after a message, not at an offset, so messages that arrive meanwhile do not shift it. */
const pageToken = (message: Position): string =>
  Buffer.from(JSON.stringify([message.internal_date, message.gmail_id])).toString('base64url')

function parsePageToken(token: string): Position | null {
  try {
    const [internal_date, gmail_id] = JSON.parse(Buffer.from(token, 'base64url').toString()) as [string, string]
    return { internal_date, gmail_id }
  } catch {
    return null
  }
}
