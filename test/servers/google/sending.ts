import { randomBytes } from 'node:crypto'
import type { Route, Routed } from '../fake/router.ts'
import type { Emulator } from './emulator.ts'
import { badRequest, notFound } from './errors.ts'

const USER = 'users/{userId}/messages/send'

/** A message that Gmail was asked to send: as it was received, with Bcc. */
export interface GmailSubmission {
  user: string
  raw: string
}

interface SendDeps {
  url: string
  emulator: Emulator
  /** Puts a message into a mailbox. Returns its id. */
  put(user: string, raw: Buffer, options: { labels: string[]; threadId?: string }): string
  /** Every message sent so far. */
  sent: GmailSubmission[]
}

/**
 * `messages.send`, where the emulator differs from Gmail: Gmail may replace the Message-ID, removes Bcc, adds a message to oneself to the
 * inbox of the same message, and takes large messages over resumable uploads.
 */
export function sendRoutes({ url, emulator, put, sent }: SendDeps): Route[] {
  const uploads = new Map<string, { threadId?: string }>()

  function submit(user: string, raw: Buffer, threadId: string | undefined): Response {
    const text = raw.toString('latin1')
    if (!/^(to|cc|bcc):/im.test(text.split('\r\n\r\n')[0] ?? '')) return badRequest('Recipient address required')
    sent.push({ user, raw: text })
    const shown = text
      .replace(/^Bcc:.*\r\n(?:[ \t].*\r\n)*/im, '')
      .replace(/^Message-ID:.*$/im, `Message-ID: <CA+${randomBytes(12).toString('hex')}@mail.gmail.com>`)
    const labels = text.includes(`<${user}>`) || text.includes(`To: ${user}`) ? ['SENT', 'INBOX'] : ['SENT']
    const id = put(user, Buffer.from(shown, 'latin1'), { labels, ...(threadId !== undefined && { threadId }) })
    return Response.json({ id, threadId: emulator.message(user, id)?.thread_id, labelIds: labels })
  }

  function send({ user, body }: Routed) {
    const { raw, threadId } = JSON.parse(body.toString() || '{}') as { raw?: string; threadId?: string }
    return raw ? submit(user ?? '', Buffer.from(raw, 'base64url'), threadId) : badRequest("'raw' is required")
  }

  function begin({ url: at, body, headers }: Routed) {
    if (at.searchParams.get('uploadType') !== 'resumable') return badRequest('Unsupported upload type')
    if (headers.get('x-upload-content-type') !== 'message/rfc822') return badRequest('Media type not supported')
    const id = randomBytes(8).toString('hex')
    uploads.set(id, JSON.parse(body.toString() || '{}'))
    const location = `${url}/upload/gmail/v1/users/me/messages/send?uploadType=resumable&upload_id=${id}`
    return new Response(null, { headers: { location } })
  }

  function upload({ user, url: at, body }: Routed) {
    const begun = uploads.get(at.searchParams.get('upload_id') ?? '')
    return begun ? submit(user ?? '', body, begun.threadId) : notFound()
  }

  return [
    { method: 'POST', pattern: `/gmail/v1/${USER}`, handle: send },
    { method: 'POST', pattern: `/upload/gmail/v1/${USER}`, handle: begin },
    { method: 'PUT', pattern: `/upload/gmail/v1/${USER}`, handle: upload },
  ]
}
