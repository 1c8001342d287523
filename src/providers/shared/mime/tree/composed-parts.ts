import { TURN_MS, yieldIfHeld } from '../../../../platform/concurrency/event-loop.ts'
import { attachmentName } from '../body/attachments.ts'
import { bodyPlan } from '../body/body-plan.ts'
import { composedBody, partText } from '../body/body-text.ts'
import { transferDecoder } from '../decoding/transfer-decoding.ts'
import { withoutFileName } from '../headers/content-type.ts'
import { type Header, headerValue } from '../headers/headers.ts'
import { allParts, type Part } from './part.ts'
import { describeRawPart, largeRawTree, type RawPart, rawFields } from './raw-tree.ts'

/** A message of `composeMessage` as its parts, for providers that take large messages in pieces. */
export interface ComposedParts {
  headers: Header[]
  /** The bytes of the text and the HTML, as they are encoded. */
  bodyBytes: number
  /** Decodes in one go, so check `bodyBytes` first. */
  body(): { text: string | null; html: string | null }
  attachments: ComposedAttachment[]
}

export interface ComposedAttachment {
  filename: string
  contentType: string
  /** Set: shown inside the HTML body. */
  contentId: string | null
  /** Decoded with each call, so that one attachment at a time is in memory. */
  content(): Promise<Buffer>
}

/** Takes apart what `composeMessage` made. Finds positions only, so that the size of attachments costs no time. */
export async function composedParts(raw: Buffer): Promise<ComposedParts> {
  const tree = await largeRawTree(raw)
  const raws = new Map(allParts(tree).map((part) => [part.id, part]))
  const readContent = ({ id }: Part) => contentIn(raw, raws.get(id))
  const plan = bodyPlan(describeRawPart(raw, tree))
  const texts = new Set([...plan.text, ...plan.html])
  return {
    headers: rawFields(raw, tree),
    bodyBytes: [...texts].reduce((sum, part) => sum + part.encodedBytes, 0),
    body: () => composedBody(plan, (part) => partText(part, readContent(part))),
    attachments: plan.files.map(({ part }) => ({
      filename: attachmentName(part),
      contentType: readType(raw, raws.get(part.id)),
      contentId: part.contentId ?? null,
      content: () => decoded(readContent(part), part.encoding),
    })),
  }
}

function contentIn(raw: Buffer, part: RawPart | undefined): Buffer {
  return raw.subarray(part?.bodyStart ?? 0, part?.bodyEnd ?? 0)
}

/** With its parameters, but for the name. */
function readType(raw: Buffer, part: RawPart | undefined): string {
  const contentType = part && headerValue(rawFields(raw, part), 'content-type')
  return withoutFileName(contentType ?? '') ?? 'application/octet-stream'
}

const SLICE = 512 * 1024

async function decoded(content: Buffer, encoding: string): Promise<Buffer> {
  const decoder = transferDecoder(encoding)
  const chunks: Buffer[] = []
  for (let at = 0; at < content.length; at += SLICE) {
    chunks.push(decoder.write(content.subarray(at, at + SLICE)))
    await yieldIfHeld(TURN_MS)
  }
  return Buffer.concat([...chunks, decoder.end()])
}
