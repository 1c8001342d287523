import { anyAborted } from '../../platform/concurrency/abort.ts'
import { describeFailure } from './failures.ts'
import { ToolError } from './tool.ts'

/** Sends a request of the REST API with the key of the caller. `path` begins with a slash. */
export type SendRequest = (request: ApiRequest) => Promise<Response>

type ChangeMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface ApiRequest {
  method: 'GET' | ChangeMethod
  path: string
  headers: Record<string, string>
  body: string | undefined
  signal: AbortSignal
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

interface RequestOptions {
  query?: Query
  body?: unknown
  headers?: Readonly<Record<string, string>>
}

/**
 * The REST API of the service, as tools use it: access, validation, limits and the audit log are those of any other client. A
 * refused or failed request is a `ToolError` that says what to do.
 */
export interface RestApi {
  get<T>(path: string, query?: Query): Promise<T>
  send<T>(method: ChangeMethod, path: string, options?: RequestOptions): Promise<T>
  /** The first bytes of a download. `isComplete` is false when there are more than `maxBytes`. */
  download(path: string, maxBytes: number): Promise<{ bytes: Buffer; isComplete: boolean }>
}

/** A provider may take as long to respond as the API waits for it. */
const REQUEST_TIMEOUT_MS = 90_000
/** The largest response of the API is a message with a long body. */
const MAX_JSON_BYTES = 32 * 1024 * 1024

/** `signal` ends the requests of a call that the client cancelled. */
export function restApi(sendRequest: SendRequest, signal: AbortSignal): RestApi {
  async function request<T>(
    method: ApiRequest['method'],
    path: string,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const unread = new AbortController()
    const limited = anyAborted([signal, unread.signal], REQUEST_TIMEOUT_MS)
    try {
      const response = await sendRequest({
        method,
        path: withQuery(path, options.query),
        headers: {
          accept: 'application/json',
          ...(options.body !== undefined && { 'content-type': 'application/json' }),
          ...options.headers,
        },
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
        signal: limited.signal,
      })
      if (!response.ok)
        throw new ToolError(describeFailure(response, (await readBytes(response, MAX_JSON_BYTES)).bytes))
      return await read(response)
    } catch (error) {
      signal.throwIfAborted()
      if (!limited.signal.aborted) throw error
      throw new ToolError(
        `Posthorn did not respond within ${REQUEST_TIMEOUT_MS / 1000} seconds. A change may have been made all the same: read the current state before you try again.`,
        { cause: error },
      )
    } finally {
      // What was not read would wait for a reader.
      unread.abort()
      limited.done()
    }
  }

  return {
    get: <T>(path: string, query: Query = {}) => request<T>('GET', path, { query }, readJson),
    send: <T>(method: ChangeMethod, path: string, options: RequestOptions = {}) =>
      request<T>(method, path, options, readJson),
    download: (path, maxBytes) => request('GET', path, {}, (response) => readBytes(response, maxBytes)),
  }
}

/** A path with its parameters encoded, so that no id can name another path. */
export function apiPath(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.map((part, index) => part + encodeValue(values[index])).join('')
}

/** The API takes "." and ".." for parts of a path even when they are encoded. */
function encodeValue(value: string | undefined): string {
  if (value === '.' || value === '..') throw new ToolError(`"${value}" is not an id.`)
  return encodeURIComponent(value ?? '')
}

function withQuery(path: string, query: Query = {}): string {
  const set = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) set.set(name, String(value))
  return set.size === 0 ? path : `${path}?${set}`
}

async function readJson<T>(response: Response): Promise<T> {
  const { bytes, isComplete } = await readBytes(response, MAX_JSON_BYTES)
  if (!isComplete) throw new ToolError('The response of Posthorn is too large for this tool. Ask for fewer items.')
  // The API wrote it, by its schema.
  return JSON.parse(bytes.toString()) as T
}

async function readBytes(response: Response, maxBytes: number): Promise<{ bytes: Buffer; isComplete: boolean }> {
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = response.body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    length += value.byteLength
    if (length > maxBytes) break
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isComplete: length <= maxBytes }
}
