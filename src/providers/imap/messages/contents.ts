import type { MessageStructureObject } from 'imapflow'
import type { RemoteAttachment } from '../../contract/index.ts'
import {
  allParts,
  type BodyPlan,
  bodyPlan,
  declaredCharset,
  describePart,
  describeRawPart,
  exactSize,
  type Header,
  htmlForFiles,
  mapAttachments,
  type Part,
  parseHeaders,
  partText,
  type RawPart,
  rawFields,
  shownText,
} from '../../shared/mime/index.ts'
import { isUnsplit, structureParts, withOwnFields } from './structure.ts'

/** How much of the body is fetched with the message. The first text nearly always begins there, and 4 KB of it are stored. */
export const TEXT_BYTES = 16 * 1024

/** The bytes of a message, or its beginning. */
export interface Source {
  /** Its header, as far as it was read. */
  header: Buffer
  /** The bytes that contain the parts: the header and what follows it, or the content of a message that is one part. */
  bytes: Buffer
  /** The parts. */
  raw: RawPart
  /** False when the message goes on behind them. */
  isWhole: boolean
}

/** Contents of a section such as `2` or `2.mime` that was fetched on its own, by its name. */
export type Sections = ReadonlyMap<string, Buffer>

export interface Contents {
  headers: Header[]
  text: string
  snippet: string
  attachments: RemoteAttachment[]
  /** Sections without which these contents are incomplete. */
  missing: readonly string[]
}

const MAX_MISSING = 3
const MAX_MISSING_NAMES = 10
const ENOUGH_TEXT = 4096

/** Reads what a message contains, from the server's structure, if it has one, and the beginning of the message. */
export function readContents(
  source: Source,
  structure: MessageStructureObject | undefined,
  sections: Sections = NONE,
): Contents {
  const single = singleText(source, structure)
  if (single !== undefined) return single
  const parts = structure === undefined ? undefined : structureParts(structure)
  const described = parts === undefined || isUnsplit(parts) ? describeRawPart(source.bytes, source.raw) : parts
  const charset = declaredCharset(described)
  const headers = parseHeaders(source.header, charset)
  const reader = new ContentReader(source, headers, sections)
  const plan = bodyPlan(withOwnFields(described, reader, charset))
  const { text, snippet } = shownText(plan, (part) => reader.readText(part))
  return {
    headers,
    text,
    snippet,
    attachments: mapAttachments(
      plan,
      htmlForFiles(plan, (part) => reader.readCompleteText(part)),
    ),
    missing: source.isWhole ? [] : [...missingTexts(plan, reader), ...missingNames(plan, reader)],
  }
}

const NONE: Sections = new Map()

/** Most messages are one text, of which all is at hand: nothing has to be chosen. Undefined for others. A first sync takes a tenth less time. */
function singleText(source: Source, structure: MessageStructureObject | undefined): Contents | undefined {
  if (!source.isWhole || (structure?.type !== 'text/plain' && structure?.type !== 'text/html')) return undefined
  const { header, bytes } = source
  const headers = parseHeaders(header)
  const place = { id: '1', encodedBytes: bytes.length, sizeBytes: undefined, children: [] }
  const part = describePart(headers, place)
  const isBody = part.filename === undefined && part.disposition !== 'attachment'
  if (!isBody || part.type !== structure.type) return undefined
  const { text, snippet } = shownText({ text: [part], html: [part], files: [] }, () => partText(part, bytes))
  return { headers, text, snippet, attachments: [], missing: [] }
}

class ContentReader {
  readonly #source: Source
  readonly #headers: Header[]
  readonly #sections: Sections
  readonly #raws: ReadonlyMap<string, RawPart>
  /** Decoded once: most are asked for twice. */
  readonly #texts = new Map<Part, string | undefined>()

  constructor(source: Source, headers: Header[], sections: Sections) {
    this.#source = source
    this.#headers = headers
    this.#sections = sections
    this.#raws = new Map(allParts(source.raw).map((raw) => [raw.id, raw]))
  }

  /** The raw part, if the server counts as we do and all of its header is at hand. */
  #findRaw({ id, type }: Part): RawPart | undefined {
    const raw = this.#raws.get(id)
    const isReadable = raw !== undefined && (raw.isComplete || raw.bodyStart < this.#source.bytes.length)
    return isReadable && raw.type === type ? raw : undefined
  }

  readFields(part: Part, charset: string | undefined): Header[] | undefined {
    const section = this.#sections.get(nameSection(part))
    if (section !== undefined) return parseHeaders(section, charset)
    const raw = this.#findRaw(part)
    if (raw === undefined) return undefined
    return raw.start === 0 ? this.#headers : rawFields(this.#source.bytes, raw, charset)
  }

  measureSize(part: Part): number | undefined {
    const raw = this.#findRaw(part)
    const isText = part.type === 'text/plain' || part.type === 'text/html'
    if (isText && part.filename === undefined) return undefined
    return raw?.isComplete ? exactSize(this.#readBytes(raw), part.encoding) : undefined
  }

  #readBytes({ bodyStart, bodyEnd }: RawPart): Buffer {
    return this.#source.bytes.subarray(bodyStart, bodyEnd)
  }

  /** The beginning of a text, as far as it is at hand. */
  readText(part: Part): string | undefined {
    if (!this.#texts.has(part)) this.#texts.set(part, this.#decodedText(part))
    return this.#texts.get(part)
  }

  #decodedText(part: Part): string | undefined {
    const section = this.#sections.get(part.id)
    if (section !== undefined) return partText(part, section)
    const raw = this.#findRaw(part)
    return raw === undefined ? undefined : partText(part, this.#readBytes(raw).subarray(0, TEXT_BYTES))
  }

  /** Undefined unless it is at hand to its end. */
  readCompleteText(part: Part): string | undefined {
    const raw = this.#findRaw(part)
    return raw?.isComplete ? partText(part, this.#readBytes(raw)) : undefined
  }

  hasFields(part: Part): boolean {
    return this.#sections.has(nameSection(part)) || this.#findRaw(part) !== undefined
  }
}

/** The texts that begin behind the bytes at hand, until there is enough text. */
function missingTexts(plan: BodyPlan, reader: ContentReader): string[] {
  const missing = findMissing(plan.text, reader)
  const isBlank = plan.text.every((part) => (reader.readText(part) ?? '').trim() === '')
  return missing.length > 0 || !isBlank ? missing : findMissing(plan.html, reader)
}

function findMissing(parts: readonly Part[], reader: ContentReader): string[] {
  const missing: string[] = []
  let length = 0
  for (const part of parts) {
    if (length >= ENOUGH_TEXT || missing.length === MAX_MISSING) break
    const text = reader.readText(part)
    if (text === undefined && part.encodedBytes > 0) missing.push(part.id)
    length += text?.trim().length ?? 0
  }
  return missing
}

/** Names that the response damaged, or that a server may have cut at a space. */
function missingNames({ files }: BodyPlan, reader: ContentReader): string[] {
  return files
    .map(({ part }) => part)
    .filter((part) => !reader.hasFields(part) && part.filename !== undefined && isDoubtful(part.filename))
    .slice(0, MAX_MISSING_NAMES)
    .map(nameSection)
}

function isDoubtful(filename: string): boolean {
  return filename.includes('\ufffd') || /=\?|%[0-9a-f]{2}/i.test(filename) || !/\.[a-z0-9]{1,10}$/i.test(filename)
}

/** The section with the header fields of a part. */
function nameSection({ id }: Part): string {
  return `${id}.mime`
}
