import { create } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import * as Type from 'typebox'
import type { ByteRange } from '../../platform/concurrency/byte-stream.ts'
import { sha256 } from '../../platform/crypto/sha256.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Content } from './read/content.ts'

const header = (description: string) => Type.Optional(Type.String({ description }))

/** Headers of a download, for the API description. */
export const downloadHeaders = Type.Object({
  range: header(
    'Requests one range of bytes: `bytes=0-499`, `bytes=500-` or `bytes=-500`. The service ignores any other form.',
  ),
  'if-range': header('Sends the range only if this is the current `ETag`, else all bytes.'),
  'if-none-match': header('Sends nothing (304) if this is the current `ETag`.'),
})

/** Sends all of the content, the range that the request asks for (RFC 9110, section 14), or for HEAD only the headers. */
export async function sendContent(request: FastifyRequest, reply: FastifyReply, content: Content) {
  const etag = `"${sha256(content.key, 'base64url').slice(0, 27)}"`
  const { range: wanted, 'if-range': ifRange, 'if-none-match': ifNoneMatch } = request.headers
  if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, etag))
    return withHeaders(reply, content, etag).code(304).send()

  if (request.method === 'HEAD') {
    const stream = await content.read()
    stream.destroy()
    return withHeaders(reply, content, etag, content.sizeBytes).send()
  }

  const range = ifRange === undefined || ifRange === etag ? parseRange(wanted) : undefined
  const sizeBytes = range === undefined ? undefined : await content.measure()
  if (range === undefined || sizeBytes === undefined) {
    const length = content.sizeBytes ?? undefined
    const stream = await content.read(length === undefined ? undefined : { from: 0, length })
    return withHeaders(reply, content, etag, content.sizeBytes).send(stream)
  }

  const { from, length } = within(range, sizeBytes)
  if (length <= 0) {
    throw new AppError('range_not_satisfiable', { headers: { 'content-range': `bytes */${sizeBytes}` } })
  }
  const stream = await content.read({ from, length })
  return withHeaders(reply, content, etag, length)
    .code(206)
    .header('content-range', `bytes ${from}-${from + length - 1}/${sizeBytes}`)
    .send(stream)
}

/** `bytes=from-to`, `bytes=from-`, or with `last` `bytes=-last`. */
type Range = { from: number; to: number } | { last: number }

/** Undefined without a header, and for other units, several ranges and invalid ones, which RFC 9110 lets a server ignore. */
function parseRange(text: string | undefined): Range | undefined {
  const [, from = '', to = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(text ?? '') ?? []
  if (from === '') return to === '' ? undefined : { last: Number(to) }
  const range = { from: Number(from), to: to === '' ? Number.POSITIVE_INFINITY : Number(to) }
  return range.to < range.from ? undefined : range
}

/** Not satisfiable when the length is not positive. */
function within(range: Range, sizeBytes: number): Required<ByteRange> & { length: number } {
  if ('last' in range) {
    const length = Math.min(range.last, sizeBytes)
    return { from: sizeBytes - length, length }
  }
  return { from: range.from, length: Math.min(range.to + 1, sizeBytes) - range.from }
}

function namesTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))
}

/** Makes a browser save the content and never render it on our origin. */
function withHeaders(reply: FastifyReply, file: Content, etag: string, sizeBytes: number | null = null): FastifyReply {
  // `create` throws for an unpaired surrogate.
  const filename = file.filename.toWellFormed() || 'attachment'
  if (sizeBytes !== null) reply.header('content-length', sizeBytes)
  return reply
    .header('content-type', MIME_TYPE.test(file.contentType) ? file.contentType : 'application/octet-stream')
    .header('content-disposition', create(filename))
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', 'sandbox')
    .header('cache-control', 'private, no-store')
    .header('accept-ranges', 'bytes')
    .header('etag', etag)
}

const MIME_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/
