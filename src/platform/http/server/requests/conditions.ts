import type { FastifyReply } from 'fastify'
import { invalid } from '../../../errors/app-error.ts'

/** The version that a request is for. Undefined without the header, and for `*`, which any version matches. */
export function ifMatchVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const version = /^\s*(?:W\/)?"?(\d{1,15})"?\s*$/.exec(header)?.[1]
  if (version === undefined) throw invalid('headers.if-match', 'must be the version from a response, or *')
  return Number(version)
}

/** Returns the object as the body of the response, whose ETag is its version. */
export function withVersion<T extends { version: number }>(reply: Pick<FastifyReply, 'header'>, object: T): T {
  reply.header('etag', `"${object.version}"`)
  return object
}

/** Whether the client wants what is not stored: `Cache-Control: no-cache`. */
export function wantsFresh(headers: { 'cache-control'?: string | undefined }): boolean {
  return /\bno-cache\b/i.test(headers['cache-control'] ?? '')
}
