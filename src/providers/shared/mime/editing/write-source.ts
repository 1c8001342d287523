import { describeFields } from '../tree/part.ts'
import type { Field, MessagePart, MessageSource } from './message-source.ts'

/** The bytes of a message. What was not edited has the bytes that it had. */
export function writeSource({ root, lineEnd }: MessageSource): Buffer {
  const chunks: Buffer[] = []
  writePart(root, Buffer.from(lineEnd), chunks)
  if (root.content === undefined && chunks.findLast(({ length }) => length > 0)?.at(-1) !== LF) {
    chunks.push(Buffer.from(lineEnd))
  }
  return Buffer.concat(chunks)
}

function writePart(part: MessagePart, lineEnd: Buffer, chunks: Buffer[]): void {
  const { fields, gap, content, multipart } = part
  for (const { bytes } of fields) {
    chunks.push(bytes)
    // The source may have ended within the field.
    if (bytes.at(-1) !== LF) chunks.push(lineEnd)
  }
  if (content !== undefined) {
    chunks.push(gap.length === 0 && content.length > 0 ? lineEnd : gap, content)
    return
  }
  if (multipart === undefined) return
  const { boundary, preamble, children, tail } = multipart
  const delimiter = Buffer.from(`--${boundary}`, 'latin1')
  chunks.push(gap.length === 0 ? lineEnd : gap, preamble)
  for (const child of children) {
    chunks.push(delimiter, lineEnd)
    writePart(child, lineEnd, chunks)
    chunks.push(lineEnd)
  }
  chunks.push(delimiter, CLOSE, tail)
}

const LF = 0x0a
const CLOSE = Buffer.from('--')

/** The part with other parts in it. The same object when they are those that it has. */
export function withChildren(part: MessagePart, children: readonly MessagePart[]): MessagePart {
  const { multipart } = part
  if (multipart === undefined) return part
  const isSame =
    children.length === multipart.children.length &&
    children.every((child, index) => child === multipart.children[index])
  return isSame ? part : { ...part, content: undefined, multipart: { ...multipart, children } }
}

/** Tools that make new parts. */
export interface Making {
  /** Returns a boundary that occurs nowhere else. */
  newBoundary(): string
  lineEnd: string
}

export function makeMultipart(
  type: 'multipart/mixed' | 'multipart/alternative' | 'multipart/related',
  children: readonly MessagePart[],
  { newBoundary, lineEnd }: Making,
): MessagePart {
  const boundary = newBoundary()
  const none = Buffer.alloc(0)
  const parameters = [`boundary="${boundary}"`]
  if (type === 'multipart/related') parameters.push(`type="${children[0]?.type ?? 'text/html'}"`)
  return {
    ...describeFields([{ name: 'Content-Type', value: type }]),
    fields: [newField('Content-Type', [type, ...parameters].join(`;${lineEnd} `), lineEnd)],
    gap: Buffer.from(lineEnd),
    content: undefined,
    multipart: { boundary, preamble: none, children, tail: none },
  }
}

export function newField(name: string, value: string, lineEnd: string): Field {
  return { name: name.toLowerCase(), bytes: Buffer.from(`${name}: ${value}${lineEnd}`, 'latin1') }
}

/** Fields of one name become this one, in place of the first. Undefined removes them. */
export function replaceField(fields: readonly Field[], name: string, field: Field | undefined): Field[] {
  const first = fields.findIndex((candidate) => candidate.name === name)
  const added = field === undefined ? [] : [field]
  if (first === -1) return [...fields, ...added]
  const isOther = (candidate: Field) => candidate.name !== name
  return [...fields.slice(0, first), ...added, ...fields.slice(first).filter(isOther)]
}
