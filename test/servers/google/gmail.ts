import type { GoogleMessage } from '@emulators/google'
import type { Route, Routed } from '../fake/router.ts'
import { badRequest, notFound } from './errors.ts'
import type { Package } from './package.ts'
import { attachmentOf, type Format, messageResource } from './payload.ts'

const BASE = '/gmail/v1/users/{userId}'
const FORMATS: readonly string[] = ['full', 'metadata', 'minimal', 'raw']

/** What Gmail does beyond the package: the profile, lists that stay whole while mail arrives, payloads of raw mails, the horizon of history. */
export interface Gmail {
  routes: Route[]
  /** The newest historyId of a mailbox. */
  historyId(user: string): string
  /** Gives a new mailbox its first historyId. */
  begin(user: string): void
  /** From now on every historyId up to the newest one is too old to start from. */
  expireHistory(user: string): void
}

/** `changed` is told after every request that may have changed a mailbox. */
export function gmail(inner: Package, changed: (user: string) => void): Gmail {
  /** What a mailbox knows of its past begins here; a new mailbox has nothing before its first id. */
  const horizons = new Map<string, string>()
  function horizon(user: string): string {
    const known = horizons.get(user) ?? inner.nextHistoryId()
    horizons.set(user, known)
    return known
  }

  function historyId(user: string): string {
    const first = horizon(user)
    const newest = inner.google.history.findBy('user_email', user).at(-1)?.gmail_id ?? '0'
    return BigInt(newest) > BigInt(first) ? newest : first
  }

  async function forward(request: Routed): Promise<Response> {
    const user = request.user ?? ''
    const hasBody = request.method !== 'GET' && request.body.length > 0
    const answer = await inner.ask(`${request.url.pathname}${request.url.search}`, {
      method: request.method,
      user,
      headers: hasBody ? { 'content-type': 'application/json' } : {},
      ...(hasBody ? { body: new Uint8Array(request.body) } : {}),
    })
    if (request.method !== 'GET' && answer.ok) changed(user)
    return answer
  }

  function profile({ user }: Routed) {
    const messages = inner.messages(user ?? '')
    return Response.json({
      emailAddress: user,
      messagesTotal: messages.length,
      threadsTotal: new Set(messages.map((message) => message.thread_id)).size,
      historyId: historyId(user ?? ''),
    })
  }

  /** The package counts the messages of each; the real list does not. */
  async function labels(request: Routed) {
    const answer = (await (await forward(request)).json()) as { labels: Record<string, unknown>[] }
    const counts = ['messagesTotal', 'messagesUnread', 'threadsTotal', 'threadsUnread']
    for (const label of answer.labels) for (const name of counts) delete label[name]
    return Response.json(answer)
  }

  function list(request: Routed) {
    const query = request.url.searchParams
    const wanted = query.getAll('labelIds')
    const most = limit(query.get('maxResults'))
    const hidden =
      query.get('includeSpamTrash') === 'true' ? [] : ['SPAM', 'TRASH'].filter((id) => !wanted.includes(id))
    const after = query.get('pageToken')
    const place = after === null ? undefined : readPlace(after)
    if (place === null) return badRequest('Invalid pageToken')
    const found = inner
      .messages(request.user ?? '')
      .filter((message) => wanted.every((id) => message.label_ids.includes(id)))
      .filter((message) => !hidden.some((id) => message.label_ids.includes(id)))
      .filter(dated(query.get('q') ?? ''))
      .sort(newestFirst)
    const rest = place ? found.filter((message) => newestFirst(place, message) < 0) : found
    const page = rest.slice(0, most)
    const last = page.at(-1)
    return Response.json({
      ...(page.length > 0
        ? { messages: page.map(({ gmail_id, thread_id }) => ({ id: gmail_id, threadId: thread_id })) }
        : {}),
      ...(last && rest.length > most ? { nextPageToken: placeOf(last) } : {}),
      resultSizeEstimate: found.length,
    })
  }

  function get(request: Routed) {
    const message = inner.message(request.user ?? '', request.params.id ?? '')
    if (!message) return notFound()
    const format = request.url.searchParams.get('format')?.toLowerCase() ?? 'full'
    if (!FORMATS.includes(format)) return badRequest(`Invalid format ${format}`)
    return Response.json(messageResource(message, format as Format, request.url.searchParams.getAll('metadataHeaders')))
  }

  function attachment(request: Routed) {
    const message = inner.message(request.user ?? '', request.params.messageId ?? '')
    const found = message && attachmentOf(message, request.params.id ?? '')
    return found ? Response.json(found) : notFound()
  }

  async function history(request: Routed) {
    const user = request.user ?? ''
    const start = request.url.searchParams.get('startHistoryId') ?? ''
    if (!/^\d+$/.test(start)) return badRequest('Invalid startHistoryId')
    if (BigInt(start) < BigInt(horizon(user))) return notFound()
    const answer = (await (await forward(request)).json()) as { history: unknown[]; historyId: string }
    const { history: entries, ...rest } = answer
    return Response.json({ ...(entries.length > 0 ? { history: entries } : {}), ...rest, historyId: historyId(user) })
  }

  return {
    historyId,
    begin: horizon,
    expireHistory(user) {
      horizons.set(user, inner.nextHistoryId())
    },
    routes: [
      { method: 'GET', pattern: `${BASE}/profile`, answer: profile },
      { method: 'GET', pattern: `${BASE}/labels`, answer: labels },
      { method: 'GET', pattern: `${BASE}/messages`, answer: list },
      { method: 'GET', pattern: `${BASE}/messages/{id}`, answer: get },
      { method: 'GET', pattern: `${BASE}/messages/{messageId}/attachments/{id}`, answer: attachment },
      { method: 'GET', pattern: `${BASE}/history`, answer: history },
      ...OF_THE_PACKAGE.map(([method, path]) => ({ method, pattern: `${BASE}/${path}`, answer: forward })),
    ].map((route) => ({
      ...route,
      answer: (request: Routed) => (isSelf(request) ? route.answer(request) : notFound()),
    })),
  }
}

const OF_THE_PACKAGE: [string, string][] = [
  ['POST', 'labels'],
  ['GET', 'labels/{id}'],
  ['PATCH', 'labels/{id}'],
  ['PUT', 'labels/{id}'],
  ['DELETE', 'labels/{id}'],
  ['POST', 'messages/batchModify'],
  ['POST', 'messages/batchDelete'],
  ['POST', 'messages/{id}/modify'],
  ['POST', 'messages/{id}/trash'],
  ['POST', 'messages/{id}/untrash'],
  ['DELETE', 'messages/{id}'],
  ['POST', 'messages/send'],
]

const isSelf = ({ params, user }: Routed) =>
  params.userId === 'me' || params.userId?.toLowerCase() === user?.toLowerCase()

function limit(value: string | null): number {
  const number = Number(value ?? 100)
  return Number.isInteger(number) && number > 0 ? Math.min(number, 500) : 100
}

type Place = Pick<GoogleMessage, 'internal_date' | 'gmail_id'>
const newestFirst = (left: Place, right: Place): number =>
  Number(right.internal_date) - Number(left.internal_date) ||
  (left.gmail_id < right.gmail_id ? 1 : left.gmail_id > right.gmail_id ? -1 : 0)

/** A page begins after a message, not at a number: what arrives meanwhile moves nothing. */
const placeOf = (message: Place): string =>
  Buffer.from(JSON.stringify([message.internal_date, message.gmail_id])).toString('base64url')

function readPlace(token: string): Place | null {
  try {
    const [internal_date, gmail_id] = JSON.parse(Buffer.from(token, 'base64url').toString()) as [string, string]
    return { internal_date, gmail_id }
  } catch {
    return null
  }
}

/** Of the search language only `after:` and `before:` in seconds. */
function dated(query: string): (message: GoogleMessage) => boolean {
  const after = Number(/\bafter:(\d+)/.exec(query)?.[1] ?? 0) * 1000
  const before = Number(/\bbefore:(\d+)/.exec(query)?.[1] ?? Number.POSITIVE_INFINITY) * 1000
  return (message) => Number(message.internal_date) >= after && Number(message.internal_date) < before
}
