/**
 * Parsing that all providers share: header fields and addresses, text from HTML, limits of stored fields. Accepts any input and
 * never throws: a malformed value becomes empty or stays unchanged. For messages to send, `address.ts` parses strictly and
 * `compose.ts` writes their bytes.
 */
export { checkAddress, type ParsedAddress, parseAddress } from './address.ts'
export { attachmentName, cleanContentId, fileName } from './attachments.ts'
export { isAutomaticMessage, isAutomaticSubject } from './automatic.ts'
export { type BodyPlan, bodyPlan } from './body-plan.ts'
export { attachmentsOf, composedBody, htmlForFiles, partText, shownText, textOf } from './body-text.ts'
export {
  composeMessage,
  isMessageId,
  isOwnHeader,
  newMessageId,
  type OutgoingMessage,
  SENT_TOKEN_HEADER,
} from './compose.ts'
export { linkedContentIds } from './content-links.ts'
export { parseFileType } from './content-type.ts'
export { isMailSystem } from './delivery-report/mail-system.ts'
export {
  type DeliveryReport,
  MAX_REPORT_BYTES,
  mayBeDeliveryReport,
  parseDeliveryReport,
  type ReportedRecipient,
} from './delivery-report/report.ts'
export { deliveryTrace } from './delivery-trace.ts'
export { composeDraft, readDraft } from './drafts.ts'
export { editDraft } from './editing/edit-draft.ts'
export {
  cleanField,
  decodedField,
  type Header,
  type HeaderFields,
  headerFields,
  headerValue,
  parseHeaders,
} from './headers.ts'
export { limitReferences, readMessageIds } from './message-ids.ts'
export { type ReadMessage, readMessage } from './message-reader.ts'
export { allParts, declaredCharset, describePart, fileType, knownType, type Part, partOf } from './part.ts'
export { type ComposedAttachment, type ComposedParts, composedParts } from './parts.ts'
export {
  decodedContent,
  describeRawPart,
  exactSize,
  type RawPart,
  rawFields,
  rawTree,
} from './raw-tree.ts'
export { htmlToText, oneLine, searchText, snippet } from './text.ts'
export { type TransferDecoder, transferDecoder } from './transfer-decoding.ts'
