import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { BusboyFileStream } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import { TURN_MS, yieldIfHeld } from '../../../concurrency/event-loop.ts'
import { AppError, invalid } from '../../../errors/app-error.ts'
import { isProgrammingError, rethrowProgrammingError } from '../../../errors/programming-errors.ts'

/** A file of a `multipart/form-data` body. */
export interface UploadedFile {
  /** The name of its part. */
  part: string
  filename: string
  contentType: string
  content: Buffer
  /** The SHA-256 of the content, in base64url. */
  hash: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The route also accepts `multipart/form-data`: a part `message` (or `body`) with the JSON, and files of at most this many bytes
     * together.
     */
    maxFileBytes?: number
  }
  interface FastifyRequest {
    /** The files of a multipart body, in order. Undefined for other bodies. */
    files: readonly UploadedFile[] | undefined
  }
}

const MAX_FILES = 100
const LIMITS = { files: MAX_FILES + 1, parts: MAX_FILES + 2, headerPairs: 20, headerSize: 16 * 1024 }
/** The parts that hold the JSON. */
const JSON_PARTS = ['message', 'body']
const MAX_NAME = 100
/** Parsed without a pause. An empty part takes 10 µs and has five bytes, so a megabyte of them takes two seconds. */
const SLICE_BYTES = 4096

interface Part {
  name: string
  /** Undefined for a text field. */
  filename: string | undefined
  contentType: string
  content: Buffer
  hash: string
}

/**
 * Reads a multipart body into the text of its JSON and its files, hashing them on the way. Throws `validation_failed` naming the part,
 * and `payload_too_large` as soon as the body exceeds the limit of the route.
 */
export async function readMultipart(
  request: FastifyRequest,
  payload: Readable,
): Promise<{ json: string; files: UploadedFile[] }> {
  const { bodyLimit, config } = request.routeOptions
  const parts = await readParts(payload, {
    contentType: request.headers['content-type'] ?? '',
    maxBytes: bodyLimit,
    maxFileBytes: config.maxFileBytes ?? 0,
  })
  const texts = parts.filter(({ name }) => JSON_PARTS.includes(name))
  const [text, second] = texts
  if (text === undefined) throw invalid('body.message', 'is required: a part of this name with the JSON of the message')
  if (second !== undefined) throw invalid(partPath(second.name), 'must be the only part with the JSON of the message')
  const files = parts.filter((part) => part !== text).map(toFile)
  return { json: text.content.toString('utf8'), files }
}

function toFile({ name, filename, contentType, content, hash }: Part): UploadedFile {
  if (filename === undefined && contentType === 'text/plain') {
    throw invalid(partPath(name), 'is not a file: give it a filename, or move the field into the part "message"')
  }
  return { part: name, filename: filename ?? name, contentType, content, hash }
}

interface PartLimits {
  contentType: string
  maxBytes: number
  maxFileBytes: number
}

async function readParts(payload: Readable, { contentType, maxBytes, maxFileBytes }: PartLimits): Promise<Part[]> {
  const { default: busboy } = await import('@fastify/busboy')
  // A file stream for each part, so that all are read in the same way.
  const parser = orMalformed(() => {
    return new busboy.Busboy({ headers: { 'content-type': contentType }, isPartAFile: () => true, limits: LIMITS })
  })
  const parts: Promise<Part>[] = []
  let last = ''
  let fileBytes = 0
  let fail = (_error: unknown) => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  const event = (name: 'drain' | 'finish') => new Promise<void>((resolve) => parser.once(name, () => resolve()))

  async function read(
    name: string,
    stream: BusboyFileStream,
    about: Pick<Part, 'filename' | 'contentType'>,
  ): Promise<Part> {
    const chunks: Buffer[] = []
    const hash = createHash('sha256')
    for await (const chunk of stream) {
      if (!JSON_PARTS.includes(name)) fileBytes += chunk.length
      if (fileBytes > maxFileBytes) {
        throw invalid(partPath(name), `makes the files larger than ${maxFileBytes / 1024 / 1024} MB together`)
      }
      hash.update(chunk)
      chunks.push(chunk)
    }
    return { name, ...about, content: Buffer.concat(chunks), hash: hash.digest('base64url') }
  }

  parser.on('file', (name: string | undefined, stream, filename: string | undefined, encoding, type) => {
    last = name ?? ''
    stream.on('error', () => {})
    if (name === undefined || name === '')
      return fail(invalid('body', `has a part without a name, after ${parts.length} parts`))
    if (!['7bit', '8bit', 'binary'].includes(encoding)) {
      return fail(invalid(partPath(name), `must not have the Content-Transfer-Encoding ${encoding.slice(0, 50)}`))
    }
    const part = read(name, stream, { filename, contentType: type })
    part.catch(fail)
    parts.push(part)
  })
  const failTooMany = () => fail(invalid('body', `must not have more than ${MAX_FILES} files`))
  parser.on('filesLimit', failTooMany)
  parser.on('partsLimit', failTooMany)
  parser.on('error', (error) => fail(isProgrammingError(error) ? error : malformed(last)))

  // The last delimiter may be followed by more bytes, which come after this event.
  const finished = event('finish')
  let received = 0
  for await (const chunk of payload) {
    received += chunk.length
    if (received > maxBytes) throw new AppError('payload_too_large')
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      const drained = parser.write(chunk.subarray(at, at + SLICE_BYTES)) ? undefined : event('drain')
      await Promise.race([failed, drained])
      await yieldIfHeld(TURN_MS)
    }
  }
  parser.end()
  await Promise.race([failed, finished])
  return Promise.all(parts)
}

function orMalformed<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    rethrowProgrammingError(error)
    throw new AppError('validation_failed', { message: 'The Content-Type has no boundary.' })
  }
}

function malformed(part: string): AppError {
  return part === ''
    ? invalid('body', 'is not complete multipart/form-data')
    : invalid(partPath(part), 'has no end, or what follows it is not a part')
}

const partPath = (part: string) => `body.${part.slice(0, MAX_NAME)}`
