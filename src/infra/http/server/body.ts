import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../../lib/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True where a browser form (urlencoded) may be posted instead of JSON. */
    form?: boolean
    /** True where plain text may be posted; it is not read. */
    text?: boolean
  }
}

/** Routes that take attachments set this as their `bodyLimit`. */
export const ATTACHMENT_BODY_LIMIT = 35 * 1024 * 1024
export const BODY_LIMIT = 1024 * 1024

/** JSON everywhere, forms where the route says so; an empty body is an absent one. */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const json = async (_request: FastifyRequest, text: string) => parseJson(text)
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, json)
  app.addContentTypeParser<string>(/^application\/[a-z0-9.-]+\+json/, { parseAs: 'string' }, json)
  app.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (request: FastifyRequest, text: string) => {
      if (request.routeOptions.config.form !== true) throw new AppError('unsupported_media_type')
      return text === '' ? undefined : parseForm(text)
    },
  )
  app.addContentTypeParser<string>('text/plain', { parseAs: 'string' }, async (request: FastifyRequest) => {
    if (request.routeOptions.config.text !== true) throw new AppError('unsupported_media_type')
    return undefined
  })
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return MAYBE_PROTO.test(text) ? JSON.parse(text, withoutProto) : JSON.parse(text)
  } catch (error) {
    throw new AppError('malformed_json', { message: `The body is not valid JSON: ${whatIsWrong(error)}` })
  }
}

/** The reviver costs as much as the parsing again, so it runs only where the name may stand, escaped or not. */
const MAYBE_PROTO = /__proto__|\\u00/i

/** A `__proto__` member would become the prototype of whatever the body is copied into. */
function withoutProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

/** The parser's own words quote the body ("… is not valid JSON"), which may hold a password: only the place is told. */
function whatIsWrong(error: unknown): string {
  const place = error instanceof Error ? /at position \d+/.exec(error.message)?.[0] : undefined
  return place === undefined ? 'it ends too early or is not JSON at all.' : `unexpected text ${place}.`
}

/** The first of repeated names counts. */
function parseForm(text: string): Record<string, string> {
  const entries = [...new URLSearchParams(text)].filter(([name]) => name !== '__proto__')
  return Object.fromEntries(entries.reverse())
}
