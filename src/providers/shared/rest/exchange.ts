import type { IncomingHttpHeaders } from 'node:http'
import { Readable, Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { TURN_MS, yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { IncrementalJson } from '../../../platform/formats/incremental-json.ts'
import { ProviderError } from '../../contract/index.ts'
import { abortError, type Doing, networkError, single, timeoutError } from './errors.ts'
import { PAGE_LIMITS } from './json.ts'

interface HttpRequest extends Doing {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With the query. */
  path: string
  headers: Record<string, string>
  body: string | Buffer | null
  /** Until the response begins; after that, between two chunks. */
  timeoutMs: number
  signal: AbortSignal
}

export interface HttpResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Readable
}

/** Sends one request. The caller must read or destroy the body. */
export async function exchange(pool: Dispatcher, request: HttpRequest): Promise<HttpResponse> {
  const { method, path, headers, body, timeoutMs, signal } = request
  if (signal.aborted) throw abortError(signal, request)
  const giveUp = new AbortController()
  const abort = () => giveUp.abort(signal.reason)
  const timer = setTimeout(() => giveUp.abort(timeoutError(request)), timeoutMs)
  signal.addEventListener('abort', abort, { once: true })
  try {
    const response = await pool.request({
      method,
      path,
      headers,
      body,
      signal: giveUp.signal,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    const decompressed = decompress(response.body, single(response.headers['content-encoding']), {
      toError: (error) => (signal.aborted ? abortError(signal, request) : networkError(error, request)),
      idle: { afterMs: timeoutMs, error: () => timeoutError(request) },
    })
    decompressed.once('close', () => signal.removeEventListener('abort', abort))
    return { status: response.statusCode, headers: response.headers, body: decompressed }
  } catch (error) {
    signal.removeEventListener('abort', abort)
    throw signal.aborted ? abortError(signal, request) : networkError(error, request)
  } finally {
    clearTimeout(timer)
  }
}

interface BodyOptions {
  toError(error: unknown): unknown
  idle: { afterMs: number; error(): ProviderError }
}

/**
 * Decompresses a body and maps its errors; destroying the result ends the request. A caller that stops reading also ends it after
 * `idle.afterMs`, because it holds one of the mailbox's request slots. undici's own timeout covers only a slow provider.
 */
function decompress(body: Readable, encoding: string | undefined, { toError, idle }: BodyOptions): Readable {
  const plain =
    encoding === 'gzip' ? createGunzip() : new Transform({ transform: (chunk, _, done) => done(null, chunk) })
  body.on('error', (error) => plain.destroy(error))
  // The iterator throws it to the reader; between two reads an unhandled error event would end the process.
  plain.on('error', () => {})
  plain.once('close', () => body.destroy())
  body.pipe(plain)
  const onProgress = () => {
    if (!result.destroyed) timer.refresh()
  }
  const result = Readable.from(mapErrors(plain, toError, onProgress), { objectMode: false, highWaterMark: 64 * 1024 })
  const timer = setTimeout(() => result.destroy(idle.error()), idle.afterMs)
  result.on('error', () => {})
  return result.once('close', () => {
    clearTimeout(timer)
    plain.destroy()
  })
}

/** Calls `onProgress` when a chunk arrives, and when the reader takes it. */
async function* mapErrors(
  chunks: AsyncIterable<Buffer>,
  toError: (error: unknown) => unknown,
  onProgress: () => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of chunks) {
      onProgress()
      yield chunk
      onProgress()
    }
  } catch (error) {
    throw toError(error)
  }
}

interface BodyLimits extends Doing {
  maxBytes: number
  /** Until the end of the body. */
  timeoutMs: number
}

/** The complete body as text. Throws `unavailable` when it exceeds a limit. */
export async function readText(body: Readable, limits: BodyLimits): Promise<string> {
  let text = ''
  for await (const chunk of decoded(body, limits)) text += chunk
  return text
}

/**
 * The body's JSON, parsed as it arrives; undefined when it is empty. Longer strings than `maxString` are cut. Throws `unavailable`
 * when the body exceeds a limit or is not JSON.
 */
export async function readJson(
  body: Readable,
  limits: BodyLimits & { maxString?: number | undefined },
): Promise<unknown> {
  const json = new IncrementalJson({ limits: PAGE_LIMITS, maxString: limits.maxString })
  for await (const text of decoded(body, limits)) {
    orUnreadable(limits.doing, () => json.write(text))
    // A fast provider sends megabytes within one turn of the event loop.
    await yieldIfHeld(TURN_MS)
  }
  return orUnreadable(limits.doing, () => json.end())
}

/** The complete body as bytes. Throws `limit_exceeded` when there are more than `maxBytes`. */
export async function readBytes(
  body: Readable,
  { maxBytes, doing }: { maxBytes: number; doing: string },
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new ProviderError('limit_exceeded', `${doing}: it has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Throws programming errors. The cause is left out: a parser quotes what it cannot read. */
export function orUnreadable<T>(doing: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    rethrowProgrammingError(error)
    throw new ProviderError('unavailable', `${doing}: the response could not be read`)
  }
}

async function* decoded(body: Readable, { maxBytes, timeoutMs, doing, host }: BodyLimits): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let bytes = 0
  const timer = setTimeout(() => body.destroy(timeoutError({ doing, host })), timeoutMs)
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new ProviderError('unavailable', `${doing}: the response is too long`)
      yield decoder.write(chunk)
    }
    yield decoder.end()
  } finally {
    clearTimeout(timer)
  }
}
