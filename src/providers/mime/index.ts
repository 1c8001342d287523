/**
 * What every provider does with the parts of a mail: header fields and addresses, words of HTML, texts cut to what is kept.
 * Reads anything and throws at nothing: what is broken comes out empty, or as it stood.
 */
export { attachmentName, bareContentId, type NamedPart } from './attachment.ts'
export { cleanField, type HeaderFields, headerFields, NAME_LIMIT } from './fields.ts'
export { decodeBytes, type Header, headerValue, parseHeaders } from './header-block.ts'
export { keptSnippet, keptText } from './kept.ts'
export { htmlToText } from './plain-text.ts'
