import type { IncomingHttpHeaders } from 'node:http'
import { Readable, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { ProviderError } from '../contract/index.ts'
import { networkFailure, single, timedOut } from './failure.ts'

export interface Sending {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With the query. */
  path: string
  headers: Record<string, string>
  body: string | null
  doing: string
  /** Until the answer begins; afterwards, without a byte. */
  timeoutMs: number
  signal: AbortSignal
}

export interface Arriving {
  status: number
  headers: IncomingHttpHeaders
  body: Readable
}

/** One request, up to the beginning of its answer; the body still has to be read or destroyed. */
export async function exchange(pool: Dispatcher, sending: Sending): Promise<Arriving> {
  const { method, path, headers, body, doing, timeoutMs, signal } = sending
  signal.throwIfAborted()
  const giveUp = new AbortController()
  const abort = () => giveUp.abort(signal.reason)
  const timer = setTimeout(() => giveUp.abort(timedOut(doing)), timeoutMs)
  signal.addEventListener('abort', abort, { once: true })
  try {
    const answer = await pool.request({
      ...{ method, path, headers, body, signal: giveUp.signal },
      ...{ headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
    })
    const unpacked = unpack(answer.body, single(answer.headers['content-encoding']), {
      failure: (error) => (signal.aborted ? signal.reason : networkFailure(error, doing)),
      idle: { afterMs: timeoutMs, error: () => timedOut(doing) },
    })
    unpacked.once('close', () => signal.removeEventListener('abort', abort))
    return { status: answer.statusCode, headers: answer.headers, body: unpacked }
  } catch (error) {
    signal.removeEventListener('abort', abort)
    throw signal.aborted ? signal.reason : networkFailure(error, doing)
  } finally {
    clearTimeout(timer)
  }
}

interface Unpacking {
  failure(error: unknown): unknown
  idle: { afterMs: number; error(): ProviderError }
}

/**
 * The body unpacked, its failures in this service's terms; destroying it gives up the answer. So does leaving it unread: the client
 * below counts only what the provider is late with, and whoever does not read holds a place of the mailbox.
 */
function unpack(body: Readable, encoding: string | undefined, { failure, idle }: Unpacking): Readable {
  const plain =
    encoding === 'gzip' ? createGunzip() : new Transform({ transform: (chunk, _, done) => done(null, chunk) })
  body.on('error', (error) => plain.destroy(error))
  // Whoever reads it is told; between two reads nobody listens.
  plain.on('error', () => {})
  plain.once('close', () => body.destroy())
  body.pipe(plain)
  const moved = () => {
    if (!unpacked.destroyed) timer.refresh()
  }
  const unpacked = Readable.from(translated(plain, failure, moved), { objectMode: false, highWaterMark: 64 * 1024 })
  const timer = setTimeout(() => unpacked.destroy(idle.error()), idle.afterMs)
  unpacked.on('error', () => {})
  return unpacked.once('close', () => {
    clearTimeout(timer)
    plain.destroy()
  })
}

/** `moved` is called whenever a chunk came, and whenever one was taken. */
async function* translated(
  chunks: AsyncIterable<Buffer>,
  failure: (error: unknown) => unknown,
  moved: () => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of chunks) {
      moved()
      yield chunk
      moved()
    }
  } catch (error) {
    throw failure(error)
  }
}

/** All of a body. Longer than `maxBytes`, or later than `timeoutMs`, is given up. */
export async function readBody(
  body: Readable,
  { maxBytes, timeoutMs, doing }: { maxBytes: number; timeoutMs: number; doing: string },
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => body.destroy(timedOut(doing)), timeoutMs)
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new ProviderError('unavailable', `${doing}: the answer is too long`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, bytes)
  } finally {
    clearTimeout(timer)
  }
}
