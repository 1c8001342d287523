import * as Type from 'typebox'
import {
  type MailAccess,
  ProviderError,
  type QueuedMessage,
  type Sender,
  type SendOutcome,
  type SendProvider,
  type SendSteps,
  type SentMessageRef,
} from '../contract/index.ts'
import { headerValue, SENT_TOKEN_HEADER } from '../shared/mime/index.ts'
import { once, parser, type RestRequest, toOutcome } from '../shared/rest/index.ts'
import { ME } from './client.ts'
import { readHeaders } from './map.ts'
import type { GmailClient, GmailMailbox } from './quota.ts'
import { listSenders } from './senders.ts'
import { beginUpload, MAX_INLINE_BYTES, type Upload } from './upload.ts'

const SEND_MS = 120_000
/** Clocks differ: Gmail's date of the message may be earlier than ours of the commit. */
const CLOCK_MS = 120_000
const MAX_SEARCHED = 50

const parseSent = parser(Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }))
const parseThread = parser(Type.Object({ threadId: Type.String({ minLength: 1, maxLength: 200 }) }))
const parsePayload = parser(
  Type.Object({ payload: Type.Object({ headers: Type.Optional(Type.Array(Type.Unknown())) }) }),
)
const parseList = parser(
  Type.Object({ messages: Type.Optional(Type.Array(Type.Object({ id: Type.String({ maxLength: 200 }) }))) }),
)

/** Sends over `messages/send`. Gmail takes the recipients from the header, Bcc included, and removes that field. */
export function gmailSending(client: GmailClient): SendProvider {
  const open = (access: MailAccess) => client.mailbox(access, { urgent: true })
  return {
    open: (access) => gmailSender(open(access), access.email),
    listSenders: (access, signal) => listSenders(open(access), signal),
  }
}

function gmailSender(mailbox: GmailMailbox, ownEmail: string): Sender {
  const sending = 'sending'

  async function findThread(id: string, signal: AbortSignal): Promise<string | undefined> {
    const query = { format: 'minimal', fields: 'threadId' }
    const request: RestRequest = {
      method: 'GET',
      path: `${ME}/messages/${encodeURIComponent(id)}`,
      doing: sending,
      query,
    }
    try {
      return (await mailbox.json({ ...request, cost: mailbox.costs.message, signal }, parseThread)).threadId
    } catch (error) {
      if (error instanceof ProviderError && error.kind === 'not_found') return undefined
      throw error
    }
  }

  /** An alias may have been removed since the message was accepted. Gmail would then send it from the primary address. */
  async function requireSender(from: string, signal: AbortSignal): Promise<void> {
    if (from.toLowerCase() === ownEmail.toLowerCase()) return
    const { addresses } = await listSenders(mailbox, signal)
    if (addresses.some((address) => address.toLowerCase() === from.toLowerCase())) return
    throw new ProviderError('rejected', `${sending}: Gmail does not let this account send from ${from}`)
  }

  async function send(message: QueuedMessage, { onCommit }: SendSteps, signal: AbortSignal): Promise<SendOutcome> {
    const commit = once(() => onCommit({ providerMessageId: null }))
    return toOutcome(commit, async () => {
      await requireSender(message.from, signal)
      const threadId = message.repliesTo === null ? undefined : await findThread(message.repliesTo, signal)
      const raw = await rawMessage(message)
      const inline: RestRequest = {
        method: 'POST',
        path: `${ME}/messages/send`,
        doing: sending,
        timeoutMs: SEND_MS,
        body: { raw: raw.toString('base64url'), ...(threadId !== undefined && { threadId }) },
      }
      const metadata = threadId === undefined ? {} : { threadId }
      const upload: Upload = { method: 'POST', path: '/messages/send', metadata, raw, doing: sending, signal }
      const request = raw.length <= MAX_INLINE_BYTES ? inline : await beginUpload(mailbox, upload)
      const { id } = await mailbox.json(
        {
          ...request,
          query: { ...request.query, fields: 'id' },
          cost: mailbox.costs.send,
          signal,
          beforeSend: commit.run,
        },
        parseSent,
      )
      return id
    })
  }

  /** Gmail may have replaced the Message-ID, so the newest sent messages are compared by our own field, too. */
  async function wasSent(
    { rfcMessageId, sentToken, committedAt }: SentMessageRef,
    signal: AbortSignal,
  ): Promise<boolean> {
    const doing = 'searching Sent'
    const after = Math.floor((committedAt - CLOCK_MS) / 1000)
    const query = { labelIds: 'SENT', q: `after:${after}`, maxResults: MAX_SEARCHED, fields: 'messages/id' }
    const list: RestRequest = { method: 'GET', path: `${ME}/messages`, query, doing, cost: mailbox.costs.list, signal }
    const { messages = [] } = await mailbox.json(list, parseList)
    for (const { id } of messages) {
      const metadata = {
        format: 'metadata',
        metadataHeaders: ['Message-ID', SENT_TOKEN_HEADER],
        fields: 'payload/headers',
      }
      const path = `${ME}/messages/${encodeURIComponent(id)}`
      const get: RestRequest = { method: 'GET', path, query: metadata, doing, cost: mailbox.costs.message, signal }
      const headers = readHeaders((await mailbox.json(get, parsePayload)).payload.headers)
      if (headerValue(headers, SENT_TOKEN_HEADER.toLowerCase()) === sentToken) return true
      if (headerValue(headers, 'message-id') === rfcMessageId) return true
    }
    return false
  }

  return { send, wasSent, close: async () => {} }
}

async function rawMessage(message: QueuedMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  if (message.bcc.length > 0) chunks.push(Buffer.from(`Bcc: ${message.bcc.join(',\r\n ')}\r\n`))
  for await (const chunk of message.bytes()) chunks.push(chunk)
  return Buffer.concat(chunks)
}
