import type { MessageStructureObject } from 'imapflow'
import { allParts, buildPart, describePart, type Header, type Part } from '../../shared/mime/index.ts'

const NONE: ReadonlyMap<string, string> = new Map()

function toMap(members: Readonly<Record<string, string>> | undefined): ReadonlyMap<string, string> {
  return members === undefined ? NONE : new Map(Object.entries(members))
}

/** The parts of a message as BODYSTRUCTURE describes them. */
export function structureParts(node: MessageStructureObject): Part {
  const isMultipart = node.type.startsWith('multipart/')
  const fields = {
    type: node.type,
    parameters: toMap(node.parameters),
    disposition: node.disposition ?? '',
    dispositionParameters: toMap(node.dispositionParameters),
    encoding: node.encoding,
    contentId: node.id,
    contentLocation: node.location,
  }
  return buildPart(fields, {
    id: node.part ?? (isMultipart ? '' : '1'),
    encodedBytes: node.size ?? 0,
    sizeBytes: undefined,
    // An attached message is one part: its own are not ours.
    children: isMultipart ? (node.childNodes ?? []).map(structureParts) : [],
  })
}

/**
 * The same with what the parts' own header fields say, as far as they are at hand: servers cut names at spaces, and the response does not
 * keep their bytes. `charset`: that of the message, for names outside ASCII.
 */
export function withOwnFields(part: Part, own: OwnFields, charset: string | undefined): Part {
  if (part.children.length > 0) {
    return { ...part, children: part.children.map((child) => withOwnFields(child, own, charset)) }
  }
  const headers = own.readFields(part, charset)
  if (headers === undefined) return part
  const described = describePart(headers, part)
  // A multipart without a delimiter is a text.
  if (described.type.startsWith('multipart/')) described.type = part.type
  described.sizeBytes = own.measureSize(described)
  return described
}

interface OwnFields {
  /** Undefined where they are not at hand. */
  readFields(part: Part, charset: string | undefined): Header[] | undefined
  /** Exact size of the decoded content in bytes. */
  measureSize(part: Part): number | undefined
}

/** A multipart that the server could not split has only empty parts. */
export function isUnsplit(root: Part): boolean {
  return root.type.startsWith('multipart/') && allParts(root).every(({ encodedBytes }) => encodedBytes === 0)
}
