import { PassThrough, type Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import secureJson from 'secure-json-parse'
import { AppError } from '../../../errors/app-error.ts'
import { exceededJsonLimit } from '../../../formats/json-limits.ts'
import type { Access } from './access.ts'
import { readMultipart } from './multipart.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True when the route also accepts a browser form (urlencoded). */
    form?: boolean
    /** True when the route accepts plain text, which is ignored. */
    text?: boolean
    /** How long the body may take to arrive. */
    bodyTimeoutMs?: number
  }
}

const KB = 1024
/** The `bodyLimit` of routes that accept attachments. */
export const ATTACHMENT_BODY_LIMIT = 35 * 1024 * KB
/** The `bodyLimit` of routes that receive the notifications of providers. */
export const WEBHOOK_BODY_LIMIT = 256 * KB
export const BODY_LIMIT = 1024 * KB
const PUBLIC_BODY_LIMIT = 64 * KB
const MAX_FORM_FIELDS = 100
const MAX_DEPTH = 100
/** The number of values that are parsed in about 10 ms. */
const MAX_VALUES = 10_000
const MAX_KEYED_VALUES = 50_000

/** The limit of a route that sets none. Without a key, anybody can send bodies. */
export function chooseBodyLimit(access: Access): number {
  return isKeyed(access) ? BODY_LIMIT : PUBLIC_BODY_LIMIT
}

function isKeyed(access: Access | undefined): boolean {
  return access?.startsWith('key:') ?? false
}

/** Parses JSON on every route, and forms and files on routes that accept them. An empty body counts as no body. */
export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const json = async ({ routeOptions: { config } }: FastifyRequest, text: string) =>
    parseJson(text, isKeyed(config.access) ? MAX_KEYED_VALUES : MAX_VALUES)
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
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: Readable) => {
    if (request.routeOptions.config.maxFileBytes === undefined) throw new AppError('unsupported_media_type')
    const { json, files } = await readMultipart(request, payload)
    request.files = files
    return parseJson(json, MAX_KEYED_VALUES, 'The part "message"')
  })
  app.addContentTypeParser<string>('text/plain', { parseAs: 'string' }, async (request: FastifyRequest) => {
    if (request.routeOptions.config.text !== true) throw new AppError('unsupported_media_type')
    return undefined
  })
}

/** Ends a request with 408 when its body takes longer than `defaultMs` to arrive, even while bytes arrive. */
export function limitBodyTime(app: FastifyInstance, defaultMs: number): void {
  app.addHook('preParsing', async ({ raw, routeOptions }, reply, payload) => {
    if (raw.complete) return payload
    const body = new PassThrough()
    const expire = () => {
      // Destroying the request ends its connection, which is too early for the response.
      if (reply.raw.headersSent) raw.destroy()
      else body.destroy(new AppError('request_timeout'))
    }
    const timer = setTimeout(expire, routeOptions.config.bodyTimeoutMs ?? defaultMs)
    // Nobody reads the body any more once the request was refused. An unhandled error event would end the process.
    body.on('error', () => {})
    payload.once('error', (error) => body.destroy(error))
    for (const stream of [raw, body]) stream.once('close', () => clearTimeout(timer))
    return payload.pipe(body)
  })
}

function parseJson(text: string, maxValues: number, subject = 'The body'): unknown {
  if (text.trim() === '') return undefined
  const exceeded = exceededJsonLimit(text, { depth: MAX_DEPTH, values: maxValues })
  if (exceeded !== undefined) {
    const reason =
      exceeded === 'depth' ? `is nested more than ${MAX_DEPTH} levels deep` : `has more than ${maxValues} values`
    throw new AppError('malformed_json', { message: `${subject} ${reason}.` })
  }
  try {
    return secureJson(text, { protoAction: 'remove', constructorAction: 'remove' })
  } catch (error) {
    throw new AppError('malformed_json', { message: `${subject} is not valid JSON: ${describeSyntaxError(error)}` })
  }
}

/** Reports the position only: the parser's own message quotes the body, which may contain a password. */
function describeSyntaxError(error: unknown): string {
  const position = error instanceof Error ? /at position \d+/.exec(error.message)?.[0] : undefined
  return position === undefined ? 'it is incomplete or not JSON.' : `unexpected text ${position}.`
}

/** The first value of a repeated field wins. */
function parseForm(text: string): Record<string, string> {
  if (hasMoreFields(text, MAX_FORM_FIELDS)) {
    throw new AppError('validation_failed', { message: `The form has more than ${MAX_FORM_FIELDS} fields.` })
  }
  const entries = [...new URLSearchParams(text)].filter(([name]) => name !== '__proto__')
  return Object.fromEntries(entries.reverse())
}

function hasMoreFields(text: string, limit: number): boolean {
  let fields = 1
  for (let at = text.indexOf('&'); at !== -1 && fields <= limit; at = text.indexOf('&', at + 1)) fields += 1
  return fields > limit
}
