/** Shared parts of all requests that send or save messages: recipients, attachments, options and results of sending. */
export {
  MAX_RECIPIENTS,
  recipientList,
  SEND_STATUSES,
  type SendResult,
  type SendStatus,
  sendOptions,
  sendResult,
  sendResultFields,
  sendStatus,
  type TrackingResult,
} from './api.ts'
export {
  attachmentList,
  attachmentRoute,
  openReferences,
  type ParsedAttachment,
  parseAttachments,
  readAttachments,
  type UnreadAttachment,
} from './attachments.ts'
export { parseRecipient, parseRecipients, parseSendAt } from './input.ts'
export { checkSender, type SenderDeps } from './sender.ts'
