import { TURN_MS, yieldIfHeld } from '../../../lib/event-loop.ts'
import { DelimiterScan, MAX_BOUNDARY } from './delimiter-scan.ts'
import { readFieldParameters } from './field-parameters.ts'

/** A header field with its bytes: its folds and its line end. */
export interface Field {
  /** In lower case. Empty for a line that is no field. */
  name: string
  bytes: Buffer
}

/** A message or a part of it, in the bytes of its source. Never changed in place: an edit makes another one that shares the rest. */
export interface MessagePart {
  fields: readonly Field[]
  /** The empty line after the fields. Empty where the source ends before it. */
  gap: Buffer
  /** In lower case: `text/plain`. */
  type: string
  disposition: string | undefined
  isNamed: boolean
  /** Without angle brackets. */
  contentId: string | undefined
  /** Content-Transfer-Encoding, in lower case. */
  encoding: string
  /** Encoded, as in the source. Undefined for a multipart whose parts were changed. */
  content: Buffer | undefined
  /** Undefined also for a multipart whose parts cannot be found. */
  multipart: Multipart | undefined
}

export interface Multipart {
  boundary: string
  /** The Content-ID of the part that a `multipart/related` shows, without angle brackets. */
  start: string | undefined
  /** What precedes the first delimiter line. */
  preamble: Buffer
  children: readonly MessagePart[]
  /** What follows the last delimiter. */
  tail: Buffer
}

export interface MessageSource {
  root: MessagePart
  /** Of its lines. */
  lineEnd: '\r\n' | '\n'
}

const [LF, CR, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09]
const MAX_DEPTH = 40
const MAX_PARTS = 5000
/** Of all parts together. */
const MAX_FIELDS = 50_000
const MAX_VALUE = 8192
const PAUSE_EVERY = 500

/**
 * Reads a message in one pass, with pauses for other work. Undefined for one with more parts or fields than messages have. Every byte of
 * the source is in a field, gap, content, preamble or tail, except for delimiter lines.
 */
export async function readSource(source: Buffer): Promise<MessageSource | undefined> {
  const steps = partSteps({ source, scan: new DelimiterScan(source), fields: 0, parts: 0 }, 0, '')
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value && { root: value, lineEnd: lineEndOf(source) }
    await yieldIfHeld(TURN_MS)
  }
}

/** The first field of this name, which is in lower case, as one line. */
function fieldValue(fields: readonly Field[], name: string): string | undefined {
  const bytes = fields.find((field) => field.name === name)?.bytes
  if (bytes === undefined) return undefined
  const line = bytes.toString('latin1', bytes.indexOf(':') + 1, bytes.indexOf(':') + MAX_VALUE)
  return line.replace(/\r?\n/g, '').trim()
}

interface Reading {
  source: Buffer
  scan: DelimiterScan
  fields: number
  parts: number
}

/** Reads the part that begins here. Afterwards `scan.line` is the delimiter that ended it. */
function* partSteps(reading: Reading, start: number, parentType: string): Generator<void, MessagePart | undefined> {
  const { source, scan } = reading
  reading.parts += 1
  const head = yield* headSteps(reading, start)
  if (head === undefined || reading.parts > MAX_PARTS) return undefined
  const { fields, gap, contentStart } = head
  const { boundary, relatedStart, ...about } = describe(fields, parentType)
  const level = boundary === undefined || scan.depth === MAX_DEPTH ? undefined : scan.open(boundary)
  yield* scan.advance(contentStart)
  const endOf = () =>
    scan.line === undefined ? source.length : Math.max(contentStart, scan.endBefore(scan.line.start))
  if (boundary === undefined || level === undefined) {
    return { fields, gap, ...about, content: source.subarray(contentStart, endOf()), multipart: undefined }
  }
  const preamble = source.subarray(contentStart, scan.line?.level === level ? scan.line.start : contentStart)
  const children: MessagePart[] = []
  while (scan.line?.level === level && !scan.line.isLast) {
    const child = yield* partSteps(reading, scan.line.next, about.type)
    if (child === undefined) return undefined
    children.push(child)
  }
  const last = scan.line?.level === level ? scan.line : undefined
  scan.close(level)
  if (last !== undefined) yield* scan.advance(last.next)
  const end = endOf()
  const tail = source.subarray(last?.delimiterEnd ?? end, end)
  const multipart = { boundary, start: relatedStart, preamble, children, tail }
  return {
    fields,
    gap,
    ...about,
    content: source.subarray(contentStart, end),
    multipart: children.length === 0 ? undefined : multipart,
  }
}

interface Head {
  fields: Field[]
  gap: Buffer
  contentStart: number
}

/** Reads header fields up to the empty line, or to a delimiter line where a program has left the empty line out. */
function* headSteps(reading: Reading, start: number): Generator<void, Head | undefined> {
  const { source, scan } = reading
  const fields: Field[] = []
  let fieldStart = start
  const endField = (end: number) => {
    if (end > fieldStart)
      fields.push({ name: nameOf(source, fieldStart, end), bytes: source.subarray(fieldStart, end) })
    fieldStart = end
  }
  let lines = 0
  for (let at = start; at < source.length; ) {
    const gapLength = source[at] === LF ? 1 : source[at] === CR && source[at + 1] === LF ? 2 : 0
    if (gapLength > 0 || scan.delimiterAt(at) !== undefined) {
      endField(at)
      return { fields, gap: source.subarray(at, at + gapLength), contentStart: at + gapLength }
    }
    if (source[at] !== SPACE && source[at] !== TAB) {
      endField(at)
      reading.fields += 1
      if (reading.fields > MAX_FIELDS) return undefined
    }
    const lineEnd = source.indexOf(LF, at)
    at = lineEnd === -1 ? source.length : lineEnd + 1
    lines += 1
    if (lines % PAUSE_EVERY === 0) yield
  }
  endField(source.length)
  return { fields, gap: source.subarray(source.length), contentStart: source.length }
}

const MAX_NAME = 200

function nameOf(source: Buffer, start: number, end: number): string {
  const text = source.toString('latin1', start, Math.min(end, start + MAX_NAME))
  return /^([\x21-\x39\x3b-\x7e]+)[ \t]*:/.exec(text)?.[1]?.toLowerCase() ?? ''
}

/** What the fields of a part say about it. */
function describe(fields: readonly Field[], parentType: string) {
  const contentType = readFieldParameters(fieldValue(fields, 'content-type') ?? '')
  const disposition = readFieldParameters(fieldValue(fields, 'content-disposition') ?? '')
  const parameter = (name: string) => contentType.parameters.get(name)
  const boundary = parameter('boundary')?.trimEnd()
  const hasParts = contentType.value.startsWith('multipart/') && boundary !== undefined && boundary !== ''
  const name = disposition.parameters.get('filename') ?? parameter('name')
  const isNamed = name !== undefined && name !== ''
  return {
    type: contentType.value === '' ? defaultType(parentType) : knownType(contentType.value, isNamed),
    disposition: disposition.value || undefined,
    isNamed,
    contentId: bareId(fieldValue(fields, 'content-id')),
    encoding: (fieldValue(fields, 'content-transfer-encoding') ?? '')
      .replace(/[;(].*$/, '')
      .trim()
      .toLowerCase(),
    boundary: hasParts && boundary.length <= MAX_BOUNDARY ? boundary : undefined,
    relatedStart: bareId(parameter('start')),
  }
}

function defaultType(parentType: string): string {
  return parentType === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
}

const TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/

/** A type in a form that the standard has. Programs write `text` or `text/plain charset=utf-8`. */
function knownType(value: string, isNamed: boolean): string {
  const type = value.split(/[\s,]/, 1)[0] ?? ''
  if (TYPE.test(type)) return type
  return isNamed && !type.startsWith('text') ? 'application/octet-stream' : 'text/plain'
}

function bareId(id: string | undefined): string | undefined {
  return id?.replace(/^\s*<|>\s*$/g, '').trim() || undefined
}

function lineEndOf(source: Buffer): '\r\n' | '\n' {
  const first = source.indexOf(LF)
  return first > 0 && source[first - 1] !== CR ? '\n' : '\r\n'
}
