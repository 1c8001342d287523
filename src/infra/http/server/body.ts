import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../../lib/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True when the route also accepts a browser form (urlencoded). */
    form?: boolean
    /** True when the route accepts plain text, which is ignored. */
    text?: boolean
  }
}

/** The `bodyLimit` of routes that accept attachments. */
export const ATTACHMENT_BODY_LIMIT = 35 * 1024 * 1024
export const BODY_LIMIT = 1024 * 1024

/** Parses JSON on every route, and forms on routes that accept them. An empty body counts as no body. */
export function addBodyParsers(app: FastifyInstance): void {
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
    throw new AppError('malformed_json', { message: `The body is not valid JSON: ${reasonOf(error)}` })
  }
}

/** A reviver doubles the cost of parsing, so it runs only when the name may occur, escaped or not. */
const MAYBE_PROTO = /__proto__|\\u00/i

/** A `__proto__` member would become the prototype of any object that the body is copied into. */
function withoutProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

/** Reports the position only: the parser's own message quotes the body, which may contain a password. */
function reasonOf(error: unknown): string {
  const position = error instanceof Error ? /at position \d+/.exec(error.message)?.[0] : undefined
  return position === undefined ? 'it is incomplete or not JSON.' : `unexpected text ${position}.`
}

/** The first value of a repeated field wins. */
function parseForm(text: string): Record<string, string> {
  const entries = [...new URLSearchParams(text)].filter(([name]) => name !== '__proto__')
  return Object.fromEntries(entries.reverse())
}
