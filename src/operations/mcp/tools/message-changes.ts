import * as Type from 'typebox'
import type { Done, Message } from '../../../ui/generated/api-objects.ts'
import { apiPath } from '../rest-api.ts'
import { ToolError, tool } from '../tool.ts'
import { ACCOUNT, MESSAGE } from './arguments.ts'
import { messageView, viewMessage } from './message-view.ts'

const LABEL_IDS = Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { maxItems: 50 })

const updateMessage = tool({
  name: 'update_message',
  title: 'Mark, label or move a message',
  description:
    'Marks a message as read or unread, stars it, and changes its labels. For Microsoft and IMAP accounts a message has exactly one label, its folder: addLabelIds with one folder moves it there.',
  access: 'write',
  isIdempotent: true,
  input: {
    accountId: ACCOUNT,
    messageId: MESSAGE,
    unread: Type.Optional(Type.Boolean()),
    starred: Type.Optional(Type.Boolean()),
    addLabelIds: Type.Optional(LABEL_IDS),
    removeLabelIds: Type.Optional(LABEL_IDS),
  },
  untrusted: { message: Type.Object(messageView) },
  async run({ accountId, messageId, unread, starred, addLabelIds = [], removeLabelIds = [] }, { api }) {
    const path = apiPath`/accounts/${accountId}/messages/${messageId}`
    const hasLabels = addLabelIds.length > 0 || removeLabelIds.length > 0
    if (unread === undefined && starred === undefined && !hasLabels) {
      throw new ToolError('Pass at least one change: unread, starred, addLabelIds or removeLabelIds.')
    }
    const labelIds = hasLabels ? changedLabels(await api.get<Message>(path), addLabelIds, removeLabelIds) : undefined
    const message = await api.send<Message>('PATCH', path, { body: { unread, starred, labelIds } })
    return { summary: 'The message was changed.', untrusted: { message: viewMessage(message) } }
  },
})

/** In a mailbox with folders, a new folder replaces the old one. */
function changedLabels(message: Message, added: readonly string[], removed: readonly string[]): string[] {
  if (message.provider !== 'gmail' && added.length > 0) return [...added]
  const kept = message.labelIds.filter((id) => !removed.includes(id))
  return [...new Set([...kept, ...added])]
}

const trashMessage = tool({
  name: 'trash_message',
  title: 'Move a message to the trash',
  description: 'Moves a message to the trash of its mailbox, where the user can restore it. It never deletes for good.',
  access: 'write',
  isDestructive: true,
  isIdempotent: true,
  input: { accountId: ACCOUNT, messageId: MESSAGE },
  async run({ accountId, messageId }, { api }) {
    await api.send<Done>('DELETE', apiPath`/accounts/${accountId}/messages/${messageId}`)
    return { summary: 'The message is in the trash.' }
  },
})

export const messageChangeTools = [updateMessage, trashMessage]
