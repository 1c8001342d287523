import { ProviderError } from '../contract/index.ts'
import type { RestResponse } from '../rest/index.ts'

/** One answer inside a batch: the number of its request, and undefined where it was longer than what is kept of one. */
export interface BatchPart {
  index: number
  answer: RestResponse | undefined
}

/** The body of a batch: each path is a request of its own, numbered in order. */
export function batchBody(paths: readonly string[], boundary: string): string {
  const parts = paths.map((path, index) =>
    [
      ...[`--${boundary}`, 'Content-Type: application/http', `Content-ID: <item-${index}>`, ''],
      ...[`GET ${path} HTTP/1.1`, 'Accept: application/json', '', ''],
    ].join('\r\n'),
  )
  return `${parts.join('\r\n')}\r\n--${boundary}--\r\n`
}

/**
 * The parts of a batch's answer as they arrive: one at a time is in memory, and of none more than `maxPartBytes`. Parts without
 * a readable number are passed over.
 */
export async function* batchParts(
  body: AsyncIterable<Buffer>,
  contentType: string | undefined,
  maxPartBytes: number,
): AsyncGenerator<BatchPart> {
  const boundary = /boundary="?([^";]{1,200})"?/i.exec(contentType ?? '')?.[1]
  if (boundary === undefined) throw new ProviderError('unavailable', 'the answer to a batch has no boundary')
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // As if a line had ended before: the first delimiter may stand at the very beginning.
  let kept: Buffer = Buffer.from('\r\n')
  let pieces: Buffer[] = []
  let pieceBytes = 0
  let isFirst = true
  for await (const chunk of body) {
    let data = Buffer.concat([kept, chunk])
    for (let at = data.indexOf(delimiter); at !== -1; at = data.indexOf(delimiter)) {
      pieces.push(data.subarray(0, at))
      pieceBytes += at
      const part = isFirst ? undefined : readPart(Buffer.concat(pieces), pieceBytes > maxPartBytes)
      if (part !== undefined) yield part
      isFirst = false
      pieces = []
      pieceBytes = 0
      data = data.subarray(at + delimiter.length)
    }
    // The end may hold the beginning of a delimiter.
    const keep = Math.min(data.length, delimiter.length - 1)
    const settled = data.subarray(0, data.length - keep)
    pieceBytes += settled.length
    if (pieceBytes <= maxPartBytes || pieces.length === 0) pieces.push(Buffer.from(settled))
    kept = data.subarray(data.length - keep)
  }
}

function readPart(bytes: Buffer, isCut: boolean): BatchPart | undefined {
  const [head, inner] = atBlankLine(bytes)
  const index = Number(/^content-id:.*?(\d{1,6})>?\s*$/im.exec(head)?.[1] ?? Number.NaN)
  if (!Number.isInteger(index)) return undefined
  if (isCut) return { index, answer: undefined }
  const [statusAndHeaders, body] = atBlankLine(inner)
  const [statusLine = '', ...lines] = statusAndHeaders.split(/\r?\n/)
  const status = Number(/^HTTP\/\d(?:\.\d)? (\d{3})\b/.exec(statusLine)?.[1] ?? Number.NaN)
  if (!Number.isInteger(status)) return undefined
  return { index, answer: { status, headers: headersOf(lines), body: jsonOf(body) } }
}

function atBlankLine(bytes: Buffer): [string, Buffer] {
  // What stands between a delimiter and its line's end is padding.
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return [bytes.toString('latin1').trim(), Buffer.alloc(0)]
  return [bytes.toString('latin1', 0, end).trim(), bytes.subarray(end + 4)]
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const fields = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ])
  return Object.fromEntries(fields)
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
