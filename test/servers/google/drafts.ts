import type { Route, Routed } from '../fake/router.ts'
import type { Emulator } from './emulator.ts'
import { badRequest, notFound } from './errors.ts'
import { type Format, messageResource } from './payload.ts'
import type { UploadTarget } from './uploads.ts'

const BASE = '/gmail/v1/users/{userId}'
const PAGE = 100

interface DraftDeps {
  emulator: Emulator
  /** Puts a message into a mailbox. Returns its id. */
  put(user: string, raw: Buffer, options: { labels: string[]; threadId?: string }): string
  /** Deletes a message permanently. */
  drop(user: string, id: string): Promise<void>
}

/**
 * `users.drafts`, where the emulator differs from Gmail: an update gives the draft another message, with another id, and sending does
 * too; the earlier message is deleted.
 */
export function draftRoutes({ emulator, put, drop }: DraftDeps): { routes: Route[]; uploads: UploadTarget[] } {
  const rows = (user: string) => emulator.google.drafts.findBy('user_email', user)
  const find = (user: string, id: string) => rows(user).find((row) => row.gmail_id === id)
  const ofMessage = (user: string, id: string) => rows(user).find((row) => row.message_gmail_id === id)

  function resource(user: string, id: string, format: Format = 'minimal') {
    const row = find(user, id)
    const message = row && emulator.message(user, row.message_gmail_id)
    return message && { id, message: messageResource(message, format) }
  }

  /** Builds the response of `create` and `update`. */
  function saved(user: string, id: string): Response {
    const message = resource(user, id)?.message as Record<string, unknown> | undefined
    if (message === undefined) return notFound()
    return Response.json({ id, message: { id: message.id, threadId: message.threadId, labelIds: message.labelIds } })
  }

  function list({ user, url }: Routed) {
    const from = Number(url.searchParams.get('pageToken') ?? 0)
    const size = Math.min(500, Number(url.searchParams.get('maxResults') ?? PAGE))
    const all = rows(user ?? '')
    const drafts = all.slice(from, from + size).map(({ gmail_id: id, message_gmail_id }) => ({
      id,
      message: { id: message_gmail_id, threadId: emulator.message(user ?? '', message_gmail_id)?.thread_id },
    }))
    return Response.json({
      ...(drafts.length > 0 && { drafts }),
      ...(from + size < all.length && { nextPageToken: String(from + size) }),
      resultSizeEstimate: all.length,
    })
  }

  function get({ user, params, url }: Routed) {
    const format = (url.searchParams.get('format') ?? 'full') as Format
    const found = resource(user ?? '', params.id ?? '', format)
    return found ? Response.json(found) : notFound()
  }

  function create({ user: owner }: Routed, sent: Sent | undefined) {
    const user = owner ?? ''
    if (sent === undefined) return badRequest('Invalid raw MIME message.')
    const draft = ofMessage(user, put(user, sent.raw, { ...sent.options, labels: ['DRAFT'] }))
    return draft ? saved(user, draft.gmail_id) : notFound()
  }

  async function update(request: Routed, sent: Sent | undefined) {
    const user = request.user ?? ''
    const draft = find(user, request.params.id ?? '')
    if (draft === undefined) return notFound()
    if (sent === undefined) return badRequest('Invalid raw MIME message.')
    const earlier = draft.message_gmail_id
    const id = put(user, sent.raw, { ...sent.options, labels: ['DRAFT'] })
    const made = ofMessage(user, id)
    if (made) emulator.google.drafts.delete(made.id)
    emulator.google.drafts.update(draft.id, { message_gmail_id: id })
    await drop(user, earlier)
    return saved(user, draft.gmail_id)
  }

  async function remove(request: Routed) {
    const draft = find(request.user ?? '', request.params.id ?? '')
    if (draft === undefined) return notFound()
    await drop(request.user ?? '', draft.message_gmail_id)
    return new Response(null, { status: 204 })
  }

  async function send(request: Routed) {
    const user = request.user ?? ''
    const { id } = JSON.parse(request.body.toString() || '{}') as { id?: string }
    const draft = find(user, id ?? '')
    const message = draft && emulator.message(user, draft.message_gmail_id)
    if (!message) return notFound()
    const raw = Buffer.from(message.raw ?? '', 'base64url')
    const sent = put(user, raw, { labels: ['SENT'], threadId: message.thread_id })
    await drop(user, message.gmail_id)
    return Response.json({ id: sent, threadId: message.thread_id, labelIds: ['SENT'] })
  }

  const upload = (metadata: { message?: { threadId?: string } }, raw: Buffer) => toSent(raw, metadata.message?.threadId)
  const routes: Route[] = [
    { method: 'GET', pattern: `${BASE}/drafts`, handle: list },
    { method: 'GET', pattern: `${BASE}/drafts/{id}`, handle: get },
    { method: 'POST', pattern: `${BASE}/drafts`, handle: (request) => create(request, parseMessage(request)) },
    { method: 'POST', pattern: `${BASE}/drafts/send`, handle: send },
    { method: 'PUT', pattern: `${BASE}/drafts/{id}`, handle: (request) => update(request, parseMessage(request)) },
    { method: 'DELETE', pattern: `${BASE}/drafts/{id}`, handle: remove },
  ]
  return {
    routes,
    uploads: [
      {
        method: 'POST',
        pattern: '/users/{userId}/drafts',
        save: (at, request, raw) => create(at, upload(request, raw)),
      },
      {
        method: 'PUT',
        pattern: '/users/{userId}/drafts/{id}',
        save: (at, request, raw) => update(at, upload(request, raw)),
      },
    ],
  }
}

interface Sent {
  raw: Buffer
  options: { threadId?: string }
}

function toSent(raw: Buffer, threadId: string | undefined): Sent {
  return { raw, options: threadId === undefined ? {} : { threadId } }
}

function parseMessage(request: Routed): Sent | undefined {
  const { message } = JSON.parse(request.body.toString() || '{}') as { message?: { raw?: string; threadId?: string } }
  if (!message?.raw) return undefined
  return toSent(Buffer.from(message.raw, 'base64url'), message.threadId)
}
