/**
 * Parsing that all providers share: header fields and addresses, text from HTML, limits of stored fields. Accepts any input and
 * never throws: a malformed value becomes empty or stays unchanged.
 */
export { attachmentName, bareContentId, type NamedPart } from './attachments.ts'
export {
  cleanField,
  decodeBytes,
  type Header,
  type HeaderFields,
  headerFields,
  headerValue,
  parseHeaders,
} from './headers.ts'
export { htmlToText, oneLine, searchText, snippet } from './text.ts'
