import { cleanText } from '../../../../platform/formats/text.ts'
import { cleanContentId } from '../body/attachments.ts'
import { type Header, headerValue } from '../headers/headers.ts'
import { readParameters } from '../headers/parameters.ts'

/** A part of a message (RFC 2046), as its bytes, a server's BODYSTRUCTURE or Gmail's payload describe it. */
export interface Part {
  /** Its number as IMAP counts (`1.2`). Empty for a multipart that is the message itself. */
  id: string
  /** In lower case: `text/plain`. */
  type: string
  /** The parameters of the type, by the name in lower case. */
  parameters: ReadonlyMap<string, string>
  charset: string | undefined
  /** How the lines of a text are to be joined (RFC 3676). */
  flow: 'fixed' | 'flowed' | 'flowed-delsp'
  /** Content-Transfer-Encoding as the message has it. */
  encoding: string
  /** In lower case: `inline`, `attachment`. */
  disposition: string | undefined
  filename: string | undefined
  /** Without angle brackets. */
  contentId: string | undefined
  contentLocation: string | undefined
  /** The Content-ID of the part that a `multipart/related` shows, without angle brackets. */
  start: string | undefined
  /** Size of the content as it is stored, in bytes. */
  encodedBytes: number
  /** Size of the decoded content in bytes, where it is known exactly. */
  sizeBytes: number | undefined
  /** The parts of a multipart. An attached message is one part, without its own. */
  children: readonly Part[]
}

/** The fields that describe a part, from its header or from a server's response. Parameters have names in lower case. */
interface PartFields {
  /** Empty where the part has no Content-Type. */
  type: string
  parameters: ReadonlyMap<string, string>
  disposition: string
  dispositionParameters: ReadonlyMap<string, string>
  encoding: string | undefined
  contentId: string | undefined
  contentLocation: string | undefined
}

/** A part's description of itself. */
export type PartDescription = Omit<Part, 'id' | 'encodedBytes' | 'sizeBytes' | 'children'>

type PartPlace = Omit<Part, keyof PartDescription> & {
  /** Type of the multipart that contains the part. */
  parentType?: string
}

/** `place` may be another `Part`, of which the description does not count. */
export function buildPart(fields: PartFields, { id, parentType, encodedBytes, sizeBytes, children }: PartPlace): Part {
  const { type, parameters, disposition, dispositionParameters } = fields
  const filename =
    dispositionParameters.get('filename') || parameters.get('name') || dispositionParameters.get('name') || undefined
  // Without a spread, which takes V8 as long as all the rest.
  return {
    id,
    type: type === '' ? defaultType(parentType) : knownType(type, filename),
    parameters,
    charset: parameters.get('charset'),
    flow: readFlow(parameters),
    encoding: fields.encoding ?? '7bit',
    disposition: disposition === '' ? undefined : disposition,
    filename,
    contentId: cleanContentId(fields.contentId),
    contentLocation: fields.contentLocation,
    start: cleanContentId(parameters.get('start')),
    encodedBytes,
    sizeBytes,
    children,
  }
}

/** Describes a part from its header fields. */
export function describePart(headers: readonly Header[], place: PartPlace): Part {
  return buildPart(fieldsIn(headers), place)
}

/** The same without its place. `parentType`: of the multipart that contains the part. */
export function describeFields(headers: readonly Header[], parentType = ''): PartDescription {
  return describePart(headers, { id: '', parentType, encodedBytes: 0, sizeBytes: undefined, children: [] })
}

function fieldsIn(headers: readonly Header[]): PartFields {
  const contentType = readParameters(headerValue(headers, 'content-type') ?? '')
  const disposition = readParameters(headerValue(headers, 'content-disposition') ?? '')
  return {
    type: contentType.value,
    parameters: contentType.parameters,
    disposition: disposition.value,
    dispositionParameters: disposition.parameters,
    encoding: headerValue(headers, 'content-transfer-encoding'),
    contentId: headerValue(headers, 'content-id'),
    contentLocation: headerValue(headers, 'content-location'),
  }
}

/** The type of a part that names none. */
export function defaultType(parentType: string | undefined): string {
  return parentType === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
}

const TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/

/** A type in a form that the standard has. Programs write `text`, `pdf` or `text/plain charset=utf-8`. */
export function knownType(value: string, filename: string | undefined): string {
  const type = value.split(/[\s,]/, 1)[0]?.toLowerCase() ?? ''
  if (TYPE.test(type)) return type
  return type === '' || type.startsWith('text') || filename === undefined ? 'text/plain' : 'application/octet-stream'
}

/** Parameters that are about the message, not about the file. */
const OF_MESSAGE = ['name', 'boundary', 'start', 'start-info', 'type']
const MAX_TYPE = 255
const MAX_PARAMETER = 80

/** The type of a file with its parameters: `text/calendar; method=REQUEST; charset=UTF-8`. */
export function fileType({ type, parameters }: Pick<Part, 'type' | 'parameters'>): string {
  let full = cleanText(type).slice(0, MAX_TYPE)
  for (const [name, value] of parameters) {
    const isKept = TOKEN.test(name) && TOKEN.test(value) && value.length <= MAX_PARAMETER && !OF_MESSAGE.includes(name)
    const longer = `${full}; ${name}=${value}`
    if (isKept && longer.length <= MAX_TYPE) full = longer
  }
  return full
}

const TOKEN = /^[\w!#$%&'*+.^`{|}~-]+$/

function readFlow(parameters: ReadonlyMap<string, string>): Part['flow'] {
  if (parameters.get('format')?.trim().toLowerCase() !== 'flowed') return 'fixed'
  return parameters.get('delsp')?.trim().toLowerCase() === 'yes' ? 'flowed-delsp' : 'flowed'
}

/** A part and all parts within it, in order. */
export function allParts<One extends { children: readonly One[] }>(root: One): One[] {
  if (root.children.length === 0) return [root]
  const parts: One[] = []
  const waiting = [root]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    parts.push(part)
    waiting.push(...part.children.toReversed())
  }
  return parts
}

/** The charset that the first text of a message declares. */
export function declaredCharset(root: Part): string | undefined {
  for (const { type, charset } of allParts(root)) {
    if (charset !== undefined && (type === 'text/plain' || type === 'text/html')) return charset
  }
  return undefined
}
