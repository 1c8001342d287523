import type { RemoteAttachment } from '../contract/index.ts'
import { bodyPlan } from './body-plan.ts'
import { attachmentsOf, composedBody, htmlForFiles, partText, shownText } from './body-text.ts'
import { type Header, type HeaderFields, headerFields, parseHeaders } from './headers.ts'
import { allParts, declaredCharset, type Part } from './part.ts'
import { allRawParts, decodedContent, describeRawPart, largeRawTree, type RawPart } from './raw-tree.ts'

/** A message as it was read from its bytes. */
export interface ReadMessage {
  headers: Header[]
  fields: HeaderFields
  body: { text: string | null; html: string | null }
  /** For search and the list. */
  shown: { text: string; snippet: string }
  attachments: RemoteAttachment[]
  /** A part without parts, by its id, with its content as it is stored. */
  find(id: string): { part: Part; content: Buffer } | undefined
}

const MAX_HEADER_BYTES = 1024 * 1024
const MAX_TEXT_BYTES = 4 * 1024 * 1024
/** Exact sizes are counted up to here; those of larger parts are estimates. */
const MAX_COUNTED = 64 * 1024

/** Reads a message. `isWhole`: the bytes do not end before the message does. Never throws. */
export async function readMessage(bytes: Buffer, { isWhole = true } = {}): Promise<ReadMessage> {
  const raw = await largeRawTree(bytes, { isWhole })
  const charset = declaredCharset(describeRawPart(bytes, raw))
  const raws = new Map(allRawParts(raw).map((one) => [one.id, one]))
  const contentOf = ({ id }: Part) => contentIn(bytes, raws.get(id))
  const root = withSizes(describeRawPart(bytes, raw, charset), contentOf)
  const headers = parseHeaders(bytes.subarray(0, Math.min(raw.bodyStart, MAX_HEADER_BYTES)), charset)
  const plan = bodyPlan(root)
  const texts = new Map([...plan.text, ...plan.html].map((part) => [part, textIn(part, contentOf(part))]))
  const textOf = (part: Part) => texts.get(part) ?? ''
  return {
    headers,
    fields: headerFields(headers),
    body: composedBody(plan, textOf),
    shown: shownText(plan, textOf),
    attachments: attachmentsOf(plan, htmlForFiles(plan, textOf)),
    find(id) {
      const part = allParts(root).find((one) => one.id === id && one.children.length === 0)
      return part && { part, content: contentOf(part) }
    },
  }
}

function contentIn(bytes: Buffer, raw: RawPart | undefined): Buffer {
  return raw === undefined ? Buffer.alloc(0) : bytes.subarray(raw.bodyStart, raw.bodyEnd)
}

function textIn(part: Part, content: Buffer): string {
  return partText(part, content.subarray(0, MAX_TEXT_BYTES))
}

function withSizes(part: Part, contentOf: (part: Part) => Buffer): Part {
  if (part.children.length > 0) return { ...part, children: part.children.map((child) => withSizes(child, contentOf)) }
  if (part.encodedBytes > MAX_COUNTED) return part
  return { ...part, sizeBytes: decodedContent(contentOf(part), part.encoding).length }
}
