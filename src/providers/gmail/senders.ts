import * as Type from 'typebox'
import type { SenderAddresses } from '../contract/index.ts'
import { parser } from '../shared/rest/index.ts'
import { ME } from './client.ts'
import type { GmailMailbox } from './quota.ts'

/** Google allows fewer. */
const MAX_SENDERS = 500

const parseSendAs = parser(
  Type.Object({
    sendAs: Type.Optional(
      Type.Array(
        Type.Object({
          sendAsEmail: Type.String({ maxLength: 400 }),
          isPrimary: Type.Optional(Type.Boolean()),
          verificationStatus: Type.Optional(Type.String({ maxLength: 100 })),
        }),
      ),
    ),
  }),
)

/**
 * The addresses that the user set up under "Send mail as" and verified. Gmail replaces every other one in From by the primary address,
 * without an error.
 */
export async function listSenders(mailbox: GmailMailbox, signal: AbortSignal): Promise<SenderAddresses> {
  const request = {
    method: 'GET',
    path: `${ME}/settings/sendAs`,
    doing: 'listing the addresses to send from',
    signal,
  } as const
  const { sendAs = [] } = await mailbox.json(request, parseSendAs)
  const usable = sendAs.filter(({ isPrimary, verificationStatus }) => isPrimary || verificationStatus === 'accepted')
  return { addresses: usable.slice(0, MAX_SENDERS).map(({ sendAsEmail }) => sendAsEmail), acceptsOthers: false }
}
