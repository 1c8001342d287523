import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { exceededJsonLimit } from '../../platform/formats/json-limits.ts'
import { ProviderError } from '../contract/index.ts'
import { parseJson, type RestResponse } from '../shared/rest/index.ts'

const MAX_BATCH_BYTES = 64 * 1024 * 1024
/** More than any message has that a person wrote. */
const MESSAGE_LIMITS = { depth: 500, values: 50_000 }

const MAX_HEADERS = 100

/** One response of a batch: the index of its request, and undefined when it exceeds a limit. */
export interface BatchPart {
  index: number
  response: RestResponse | undefined
}

/** One request of a batch. `json` is its body. */
export interface BatchRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  json?: unknown
}

/** The body of a batch request, its parts numbered in order. */
export function batchBody(requests: readonly BatchRequest[], boundary: string): string {
  const parts = requests.map(({ method, path, json }, index) =>
    [
      `--${boundary}`,
      'Content-Type: application/http',
      `Content-ID: <item-${index}>`,
      '',
      `${method} ${path} HTTP/1.1`,
      'Accept: application/json',
      ...content(json),
    ].join('\r\n'),
  )
  return `${parts.join('\r\n')}\r\n--${boundary}--\r\n`
}

function content(json: unknown): string[] {
  if (json === undefined) return ['', '']
  const text = JSON.stringify(json)
  return ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`, '', text]
}

/** Parses a batch response as it arrives. Holds one part at a time, up to `maxPartBytes`. Skips parts without a readable index. Ends after `maxBytes`; the caller requests the missing parts again. */
export async function* batchParts(
  body: AsyncIterable<Buffer>,
  contentType: string | undefined,
  maxPartBytes: number,
  maxBytes = MAX_BATCH_BYTES,
): AsyncGenerator<BatchPart> {
  const boundary = /boundary="?([^";]{1,200})"?/i.exec(contentType ?? '')?.[1]
  if (boundary === undefined) throw new ProviderError('unavailable', 'the batch response has no boundary')
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first delimiter may be at the very beginning, without a line end before it.
  let tail: Buffer = Buffer.from('\r\n')
  let pieces: Buffer[] = []
  let pieceBytes = 0
  let isPreamble = true
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) return
    let data = Buffer.concat([tail, chunk])
    for (let at = data.indexOf(delimiter); at !== -1; at = data.indexOf(delimiter)) {
      pieces.push(data.subarray(0, at))
      pieceBytes += at
      const part = isPreamble ? undefined : readPart(Buffer.concat(pieces), pieceBytes > maxPartBytes)
      if (part !== undefined) yield part
      isPreamble = false
      pieces = []
      pieceBytes = 0
      data = data.subarray(at + delimiter.length)
      // Parts that are skipped give the caller no turn.
      await yieldIfHeld(TURN_MS)
    }
    // The end may contain the beginning of a delimiter.
    const tailLength = Math.min(data.length, delimiter.length - 1)
    const complete = data.subarray(0, data.length - tailLength)
    pieceBytes += complete.length
    if (pieceBytes <= maxPartBytes || pieces.length === 0) pieces.push(Buffer.from(complete))
    tail = data.subarray(data.length - tailLength)
  }
}

function readPart(bytes: Buffer, isTooLong: boolean): BatchPart | undefined {
  const [partHeaders, http] = splitAtBlankLine(bytes)
  const index = Number(/^content-id:.*?(\d{1,6})>?\s*$/im.exec(partHeaders)?.[1] ?? Number.NaN)
  if (!Number.isInteger(index)) return undefined
  if (isTooLong) return { index, response: undefined }
  const [statusAndHeaders, body] = splitAtBlankLine(http)
  const [statusLine = '', ...lines] = statusAndHeaders.split(/\r?\n/, MAX_HEADERS)
  const status = Number(/^HTTP\/\d(?:\.\d)? (\d{3})\b/.exec(statusLine)?.[1] ?? Number.NaN)
  if (!Number.isInteger(status)) return undefined
  if (exceededJsonLimit(body.toString('latin1'), MESSAGE_LIMITS) !== undefined) return { index, response: undefined }
  return { index, response: { status, headers: parseHeaders(lines), body: parseJson(body.toString('utf8')) } }
}

function splitAtBlankLine(bytes: Buffer): [string, Buffer] {
  // Padding may follow the delimiter on its line.
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return [bytes.toString('latin1').trim(), Buffer.alloc(0)]
  return [bytes.toString('latin1', 0, end).trim(), bytes.subarray(end + 4)]
}

function parseHeaders(lines: readonly string[]): Record<string, string> {
  const fields = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ])
  return Object.fromEntries(fields)
}
