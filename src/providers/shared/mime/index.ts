/**
 * Parsing that all providers share: header fields and addresses, text from HTML, limits of stored fields. Accepts any input and
 * never throws: a malformed value becomes empty or stays unchanged. For messages to send, `address.ts` parses strictly and
 * `compose.ts` writes their bytes.
 */

export { attachmentName, cleanContentId, fileName } from './body/attachments.ts'
export { type BodyPlan, bodyPlan } from './body/body-plan.ts'
export { composedBody, decodePartText, htmlForFiles, mapAttachments, partText, shownText } from './body/body-text.ts'
export { linkedContentIds } from './body/content-links.ts'
export { htmlToText } from './body/html-to-text.ts'
export { oneLine, searchText, snippet } from './body/snippet.ts'
export {
  composeMessage,
  isMessageId,
  isOwnHeader,
  newMessageId,
  type OutgoingMessage,
  SENT_TOKEN_HEADER,
} from './compose.ts'
export { decode as decodeCharset } from './decoding/charset.ts'
export { type TransferDecoder, transferDecoder } from './decoding/transfer-decoding.ts'
export { isMailSystem } from './delivery-report/mail-system.ts'
export {
  type DeliveryReport,
  MAX_REPORT_BYTES,
  mayBeDeliveryReport,
  parseDeliveryReport,
  type ReportedRecipient,
} from './delivery-report/report.ts'
export { composeDraft, readDraft } from './drafts.ts'
export { editDraft } from './editing/edit-draft.ts'
export { checkAddress, type ParsedAddress, parseAddress } from './headers/address.ts'
export { isAutomaticMessage, isAutomaticSubject, isBulkMessage } from './headers/automatic.ts'
export { parseFileType } from './headers/content-type.ts'
export { deliveryTrace } from './headers/delivery-trace.ts'
export {
  cleanField,
  decodedField,
  type Header,
  type HeaderFields,
  headerFields,
  headerValue,
  parseHeaders,
} from './headers/headers.ts'
export { limitReferences, readMessageIds } from './headers/message-ids.ts'
export { type ComposedAttachment, type ComposedParts, composedParts } from './tree/composed-parts.ts'
export { type ReadMessage, readMessage } from './tree/message-reader.ts'
export { allParts, buildPart, declaredCharset, describePart, fileType, knownType, type Part } from './tree/part.ts'
export {
  decodedContent,
  describeRawPart,
  exactSize,
  type RawPart,
  rawFields,
  rawTree,
} from './tree/raw-tree.ts'
