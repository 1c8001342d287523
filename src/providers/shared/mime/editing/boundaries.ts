import { randomUUID } from 'node:crypto'
import { TURN_MS, yieldIfHeld } from '../../../../platform/concurrency/event-loop.ts'
import { readParameters } from '../headers/parameters.ts'
import { dashedLines } from '../tree/dashed-lines.ts'
import { MAX_BOUNDARY } from '../tree/raw-tree.ts'
import type { Field, MessagePart } from './message-source.ts'
import { newField } from './write-source.ts'

const WINDOW = 1024 * 1024

/** Returns boundaries that occur in none of these contents. */
export async function unusedBoundaries(contents: readonly Buffer[]): Promise<() => string> {
  for (;;) {
    const unique = `=_${randomUUID()}`
    let isUsed = false
    for (const content of contents) isUsed ||= await contains(content, unique)
    let count = 0
    if (!isUsed) return () => `${unique}.${count++}`
  }
}

async function contains(content: Buffer, text: string): Promise<boolean> {
  for (let at = 0; at < content.length; at += WINDOW) {
    if (content.subarray(at, at + WINDOW + text.length).includes(text, 0, 'latin1')) return true
    await yieldIfHeld(TURN_MS)
  }
  return false
}

/** Gives the multiparts other boundaries whose boundary begins a line of these new contents. */
export async function renameUsed(
  root: MessagePart,
  contents: readonly Buffer[],
  newBoundary: () => string,
): Promise<MessagePart> {
  const boundaries = new Set([...changedMultiparts(root)].map(({ multipart }) => multipart?.boundary ?? ''))
  const used = new Set<string>()
  for (const content of contents) await addUsed(content, boundaries, used)
  return used.size === 0 ? root : renamed(root, used, newBoundary)
}

/** Only their delimiters surround new contents. */
function* changedMultiparts(part: MessagePart): Generator<MessagePart> {
  if (part.multipart === undefined || part.content !== undefined) return
  yield part
  for (const child of part.multipart.children) yield* changedMultiparts(child)
}

/** Programs disagree on whether a delimiter may go on, so a line that begins with one counts. */
async function addUsed(content: Buffer, boundaries: ReadonlySet<string>, used: Set<string>): Promise<void> {
  const lengths = [...new Set([...boundaries].map(({ length }) => length))]
  for (const start of dashedLines(content, 0)) {
    await yieldIfHeld(TURN_MS)
    if (start === undefined) continue
    const line = content.toString('latin1', start + 2, start + 2 + MAX_BOUNDARY)
    for (const length of lengths) {
      const beginning = line.slice(0, length)
      if (boundaries.has(beginning)) used.add(beginning)
    }
  }
}

function renamed(part: MessagePart, used: ReadonlySet<string>, newBoundary: () => string): MessagePart {
  const { multipart } = part
  if (multipart === undefined || part.content !== undefined) return part
  const children = multipart.children.map((child) => renamed(child, used, newBoundary))
  if (!used.has(multipart.boundary)) return { ...part, multipart: { ...multipart, children } }
  const boundary = newBoundary()
  const fields = part.fields.map((field) => {
    return field.name === 'content-type' ? replaceBoundary(field, multipart.boundary, boundary) : field
  })
  return { ...part, fields, multipart: { ...multipart, boundary, children } }
}

function replaceBoundary(field: Field, earlier: string, boundary: string): Field {
  const text = field.bytes.toString('latin1')
  const escaped = earlier.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const parameter = new RegExp(`(;\\s*boundary\\s*=\\s*)(?:"${escaped}"|${escaped}(?![^\\s;]))`, 'i')
  if (!parameter.test(text)) return withBoundary(text, boundary)
  return { ...field, bytes: Buffer.from(text.replace(parameter, `$1"${boundary}"`), 'latin1') }
}

/** For a boundary in pieces or with escapes: writes the field again. */
function withBoundary(text: string, boundary: string): Field {
  const { value, parameters } = readParameters(text.slice(text.indexOf(':') + 1).replace(/\r?\n/g, ''))
  const named = new Map([...parameters, ['boundary', boundary]])
  const pieces = [...named].map(([name, content]) => parameterText(name, content))
  return newField('Content-Type', [value, ...pieces].join('; '), text.endsWith('\r\n') ? '\r\n' : '\n')
}

function parameterText(name: string, content: string): string {
  if (/[^\x20-\x7e]/.test(content)) return `${name}*=utf-8''${encodeURIComponent(content)}`
  return `${name}="${content.replace(/["\\]/g, '\\$&')}"`
}
