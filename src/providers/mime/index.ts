/**
 * What all providers do with parts of a message: header fields and addresses, text of HTML, limits of what is stored. Accepts any
 * input and throws nothing: a broken value comes out empty or unchanged.
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
