import { randomBytes } from 'node:crypto'
import type { Route, Routed } from '../fake/router.ts'
import type { Emulator } from './emulator.ts'
import { badRequest } from './errors.ts'
import type { UploadTarget } from './uploads.ts'

const USER = 'users/{userId}/messages/send'

/** An address of `settings.sendAs`. */
export interface SendAs {
  email: string
  status: 'accepted' | 'pending'
}

/** A message that Gmail was asked to send: as it was received, with Bcc. */
export interface GmailSubmission {
  user: string
  raw: string
}

interface SendDeps {
  emulator: Emulator
  /** Puts a message into a mailbox. Returns its id. */
  put(user: string, raw: Buffer, options: { labels: string[]; threadId?: string }): string
  /** Every message sent so far. */
  sent: GmailSubmission[]
  /** Awaited before the reply. */
  onSent(): Promise<void>
  /** The aliases of a user, beside the primary address. */
  aliasesOf(user: string): readonly SendAs[]
}

/**
 * `messages.send`, where the emulator differs from Gmail: Gmail may replace the Message-ID, removes Bcc, adds a message to oneself to the
 * inbox of the same message, and takes large messages over resumable uploads.
 */
export function sendRoutes({ emulator, put, sent, onSent, aliasesOf }: SendDeps): {
  routes: Route[]
  upload: UploadTarget
} {
  async function submit(user: string, raw: Buffer, threadId: string | undefined): Promise<Response> {
    const text = withUsableSender(raw.toString('latin1'), user)
    if (!/^(to|cc|bcc):/im.test(text.split('\r\n\r\n')[0] ?? '')) return badRequest('Recipient address required')
    sent.push({ user, raw: text })
    const shown = text
      .replace(/^Bcc:.*\r\n(?:[ \t].*\r\n)*/im, '')
      .replace(/^Message-ID:.*$/im, `Message-ID: <CA+${randomBytes(12).toString('hex')}@mail.gmail.com>`)
    const labels = text.includes(`<${user}>`) || text.includes(`To: ${user}`) ? ['SENT', 'INBOX'] : ['SENT']
    const id = put(user, Buffer.from(shown, 'latin1'), { labels, ...(threadId !== undefined && { threadId }) })
    await onSent()
    return Response.json({ id, threadId: emulator.message(user, id)?.thread_id, labelIds: labels })
  }

  /** Gmail replaces a sender that is neither the primary address nor a verified alias, without an error. */
  function withUsableSender(text: string, user: string): string {
    const from = /^From:.*?([^\s<>:]+@[^\s<>]+)>?\s*$/im.exec(text)?.[1]?.toLowerCase()
    const usable = [user, ...aliasesOf(user).flatMap(({ email, status }) => (status === 'accepted' ? email : []))]
    return from === undefined || usable.includes(from) ? text : text.replace(/^From:.*$/im, `From: ${user}`)
  }

  function listSendAs({ user }: Routed) {
    const aliases = aliasesOf(user ?? '')
    const primary = { sendAsEmail: user, displayName: '', isPrimary: true, isDefault: true }
    const custom = aliases.map(({ email, status }) => {
      return {
        sendAsEmail: email,
        displayName: '',
        replyToAddress: '',
        signature: '',
        treatAsAlias: true,
        verificationStatus: status,
      }
    })
    return Response.json({ sendAs: [primary, ...custom] })
  }

  function send({ user, body }: Routed) {
    const { raw, threadId } = JSON.parse(body.toString() || '{}') as { raw?: string; threadId?: string }
    return raw ? submit(user ?? '', Buffer.from(raw, 'base64url'), threadId) : badRequest("'raw' is required")
  }

  return {
    routes: [
      { method: 'POST', pattern: `/gmail/v1/${USER}`, handle: send },
      { method: 'GET', pattern: '/gmail/v1/users/{userId}/settings/sendAs', handle: listSendAs },
    ],
    upload: {
      method: 'POST',
      pattern: `/${USER}`,
      save: ({ user }, metadata: { threadId?: string }, raw) => submit(user ?? '', raw, metadata.threadId),
    },
  }
}
