import type { Static, TObject } from 'typebox'
import * as Type from 'typebox'
import type { Draft, MessageDetail, SendResult } from '../../../ui/generated/api-objects.ts'
import { apiPath } from '../rest-api.ts'
import { type ToolContext, ToolError, type ToolResult, tool } from '../tool.ts'
import { ACCOUNT, CONFIRMATION_TOKEN, MESSAGE, RECIPIENTS } from './arguments.ts'
import { CONFIRMATION_FACTS, confirmationNeeded } from './confirmation.ts'
import { BODY, DRAFT, DRAFT_CHARACTERS, draftView, SUBJECT, viewDraft } from './drafts.ts'
import { messageView, viewMessage } from './message-view.ts'

const SENT_FACTS = {
  ...CONFIRMATION_FACTS,
  draftId: Type.Optional(Type.String()),
  messageId: Type.Optional(Type.String({ description: 'The id that the message has, or will have in Sent.' })),
  outboxId: Type.Optional(Type.String()),
}

const sendInput = {
  accountId: Type.Optional(ACCOUNT),
  to: Type.Optional(RECIPIENTS),
  cc: Type.Optional(RECIPIENTS),
  bcc: Type.Optional(RECIPIENTS),
  subject: Type.Optional(SUBJECT),
  body: Type.Optional(BODY),
  draftId: Type.Optional(DRAFT),
  confirmationToken: CONFIRMATION_TOKEN,
}
type SendInput = Static<TObject<typeof sendInput>>

const SEND = 'send_message'

/** A token belongs to one version of a draft, so what is sent is what was shown. */
const sendMessage = tool({
  name: SEND,
  title: 'Send a message',
  description:
    'Sends a message in two calls. First call: accountId, to, subject and body, which are saved as a draft, or only draftId of a draft that exists. It sends nothing and returns draftId, the draft to show to the user, and confirmationToken. Second call, after the user has agreed: only draftId and confirmationToken. A draft that was changed in between is not sent.',
  access: 'write',
  isDestructive: true,
  input: sendInput,
  facts: SENT_FACTS,
  untrusted: { draft: draftView },
  run: (input, context) => (input.confirmationToken === undefined ? prepare(input, context) : confirm(input, context)),
})

async function prepare(input: SendInput, { api, confirmations }: ToolContext): Promise<ToolResult> {
  const { draftId, confirmationToken, ...fields } = input
  if (draftId !== undefined && Object.keys(fields).length > 0) {
    throw new ToolError('Pass either draftId or the fields of a new message. update_draft changes a draft.')
  }
  const missing = (['accountId', 'to', 'subject', 'body'] as const).filter((name) => fields[name] === undefined)
  if (draftId === undefined && missing.length > 0) {
    throw new ToolError(`The first call of ${SEND} needs ${missing.join(', ')}, or the draftId of a draft.`)
  }
  const draft =
    draftId === undefined
      ? await api.send<Draft>('POST', '/drafts', { body: fields })
      : await api.get<Draft>(apiPath`/drafts/${draftId}`)
  const recipients = draft.to.length + draft.cc.length + draft.bcc.length
  if (recipients === 0) throw new ToolError('The draft has no recipients. Add them with update_draft.')
  const confirmation = confirmations.create(SEND, [draft.id, draft.version])
  return confirmationNeeded(SEND, {
    // The version is part of the token, so that the second call needs no other argument.
    confirmation: { ...confirmation, confirmationToken: `${draft.version}.${confirmation.confirmationToken}` },
    what: `the message to ${recipients} recipient${recipients === 1 ? '' : 's'}`,
    repeat: 'draftId and confirmationToken',
    facts: { draftId: draft.id },
    untrusted: { draft: viewDraft(draft, DRAFT_CHARACTERS) },
  })
}

async function confirm(input: SendInput, { api, confirmations }: ToolContext): Promise<ToolResult> {
  const { draftId, confirmationToken = '', ...others } = input
  if (draftId === undefined || Object.keys(others).length > 0) {
    throw new ToolError(`Nothing was sent. With confirmationToken, ${SEND} takes only draftId.`)
  }
  const [, version = '', token = ''] = /^(\d{1,15})\.(.*)$/.exec(confirmationToken) ?? []
  const idempotencyKey = confirmations.redeem(token, SEND, [draftId, Number(version)])
  const sent = await api.send<SendResult>('POST', apiPath`/drafts/${draftId}/send`, {
    body: {},
    headers: { 'if-match': version, 'idempotency-key': idempotencyKey },
  })
  return describeSent(sent)
}

const REPLY = 'reply_to_message'

const replyToMessage = tool({
  name: REPLY,
  title: 'Reply to a message',
  description:
    'Sends a reply within the conversation, in two calls with the same arguments. The first sends nothing and returns the message, the reply and confirmationToken. Call again with confirmationToken after the user has agreed.',
  access: 'write',
  isDestructive: true,
  input: {
    accountId: ACCOUNT,
    messageId: MESSAGE,
    to: { ...RECIPIENTS, minItems: 1, description: 'Usually replyTo of read_message, else from.' },
    cc: Type.Optional(RECIPIENTS),
    body: BODY,
    confirmationToken: CONFIRMATION_TOKEN,
  },
  facts: SENT_FACTS,
  untrusted: {
    message: Type.Object(messageView),
    reply: Type.Object({ to: Type.Array(Type.String()), cc: Type.Array(Type.String()), text: Type.String() }),
  },
  async run({ confirmationToken, ...reply }, { api, confirmations }) {
    const { accountId, messageId, to, cc = [], body } = reply
    if (confirmationToken === undefined) {
      const message = await api.get<MessageDetail>(apiPath`/accounts/${accountId}/messages/${messageId}`)
      return confirmationNeeded(REPLY, {
        confirmation: confirmations.create(REPLY, reply),
        what: 'the reply',
        repeat: 'the same arguments and confirmationToken',
        untrusted: { message: viewMessage(message), reply: { to, cc, text: body } },
      })
    }
    const idempotencyKey = confirmations.redeem(confirmationToken, REPLY, reply)
    const sent = await api.send<SendResult>('POST', apiPath`/accounts/${accountId}/messages/send`, {
      body: { replyToMessageId: messageId, to, cc, body },
      headers: { 'idempotency-key': idempotencyKey },
    })
    return describeSent(sent)
  },
})

function describeSent({ outboxId, status, result }: SendResult): ToolResult {
  return {
    summary: `The message was accepted and is sent in the background; its status is ${status}. Do not send it again.`,
    facts: { status, messageId: result.messageId, outboxId },
  }
}

export const sendingTools = [sendMessage, replyToMessage]
