import type { FolderRole } from '../../providers/contract/index.ts'

/** The event of a message that was not stored before. */
export type ArrivalType = 'message.received' | 'message.sent' | 'draft.created'
export type MessageEventType = ArrivalType | 'draft.updated' | 'draft.deleted' | 'message.updated' | 'message.deleted'

/** Event type of a new message, by the role of its folder. Undefined where `mailbox.changed` is the only event. */
export function arrivalType(role: FolderRole | null): ArrivalType | undefined {
  if (role === 'trash' || role === 'junk') return undefined
  if (role === 'sent') return 'message.sent'
  return role === 'drafts' ? 'draft.created' : 'message.received'
}

/** Event types of a visible change, by the roles of the message's folder before and after it. A draft has no message events. */
export function changeTypes(before: FolderRole | null, after: FolderRole | null): MessageEventType[] {
  if (before !== 'drafts') return [after === 'drafts' ? 'draft.created' : 'message.updated']
  if (after === 'drafts') return ['draft.updated']
  if (after === 'trash' || after === 'junk') return ['draft.deleted']
  return ['draft.deleted', after === 'sent' ? 'message.sent' : 'message.updated']
}

/** Event type of a message that was deleted from the folder with this role. */
export function deletionType(role: FolderRole | null): MessageEventType {
  return role === 'drafts' ? 'draft.deleted' : 'message.deleted'
}
