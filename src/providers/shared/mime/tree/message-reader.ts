import { TURN_MS, yieldIfHeld } from '../../../../platform/concurrency/event-loop.ts'
import type { RemoteAttachment } from '../../../contract/index.ts'
import { bodyPlan } from '../body/body-plan.ts'
import { composedBody, htmlForFiles, mapAttachments, partText, shownText } from '../body/body-text.ts'
import { type Header, type HeaderFields, headerFields } from '../headers/headers.ts'
import { allParts, declaredCharset, type Part } from './part.ts'
import { describeRawPart, exactSize, largeRawTree, type RawPart, rawFields } from './raw-tree.ts'

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

const MAX_TEXT_BYTES = 4 * 1024 * 1024

/** Reads a message, with pauses for other work. `isWhole`: the bytes do not end before the message does. Never throws. */
export async function readMessage(bytes: Buffer, { isWhole = true } = {}): Promise<ReadMessage> {
  const raw = await largeRawTree(bytes, { isWhole })
  const described = await describe(bytes, raw)
  const charset = declaredCharset(described)
  const root = charset === undefined ? described : await describe(bytes, raw, charset)
  const raws = new Map(allParts(raw).map((part) => [part.id, part]))
  const readContent = ({ id }: Part) => contentIn(bytes, raws.get(id))
  const headers = rawFields(bytes, raw, charset)
  const plan = bodyPlan(root)
  const texts = new Map<Part, string>()
  for (const part of new Set([...plan.text, ...plan.html])) {
    await yieldIfHeld(TURN_MS)
    texts.set(part, partText(part, readContent(part).subarray(0, MAX_TEXT_BYTES)))
  }
  const readText = (part: Part) => texts.get(part) ?? ''
  return {
    headers,
    fields: headerFields(headers),
    body: composedBody(plan, readText),
    shown: shownText(plan, readText),
    attachments: mapAttachments(plan, htmlForFiles(plan, readText)),
    find(id) {
      const part = allParts(root).find((part) => part.id === id && part.children.length === 0)
      return part && { part, content: readContent(part) }
    },
  }
}

/** The tree with the sizes of its parts. `charset`: of header fields outside ASCII. */
async function describe(bytes: Buffer, raw: RawPart, charset?: string): Promise<Part> {
  const children: Part[] = []
  for (const child of raw.children) children.push(await describe(bytes, child, charset))
  await yieldIfHeld(TURN_MS)
  const part = describeRawPart(bytes, { ...raw, children: [] }, charset)
  if (children.length > 0) return { ...part, children }
  return { ...part, sizeBytes: exactSize(contentIn(bytes, raw), part.encoding) }
}

function contentIn(bytes: Buffer, raw: RawPart | undefined): Buffer {
  return raw === undefined ? Buffer.alloc(0) : bytes.subarray(raw.bodyStart, raw.bodyEnd)
}
