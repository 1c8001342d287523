import type { Composition } from '../../mail/outbox/index.ts'
import type { RemoteAddress } from '../../providers/contract/index.ts'

/** The message with the code of a guest. Contains nothing that the guest entered. */
export function codeMessage(experience: string, code: string, to: RemoteAddress): Composition {
  return {
    to: [to],
    cc: [],
    bcc: [],
    replyTo: [],
    headers: [],
    attachments: [],
    inReplyTo: null,
    references: [],
    html: null,
    subject: `${code} is your code for “${experience.replaceAll(/\s+/g, ' ')}”`,
    text: [
      `Your code: ${code}`,
      '',
      `Enter it on the booking page of “${experience}” within 10 minutes.`,
      'If you did not book anything, ignore this message.',
      '',
    ].join('\n'),
  }
}
