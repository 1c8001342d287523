import { ConnectionError, InvalidResponseError, PosthornError, readError } from '../errors.ts'
import { type Deadline, pause, startDeadline } from './deadline.ts'
import { DEFAULT_RETRIES, isRetryable, retryDelayMs } from './retry.ts'
import { type EncodedBody, encodeForm, encodeJson, type Files, randomHex } from './upload.ts'

export interface ClientOptions {
  /** Where the service is, such as `https://mail.example.com`. A path in it is kept. */
  baseUrl: string
  /** A key of the service. Without it, only the public paths respond: booking pages need no more. */
  apiKey?: string | undefined
  /** How long an attempt may take, and a download or a stream may pause. Default: 60,000. */
  timeoutMs?: number | undefined
  /** Attempts after the first one. Default: 2. */
  maxRetries?: number | undefined
  /** A longer `Retry-After` is not waited for: the call throws at once. Default: 60,000. */
  maxRetryDelayMs?: number | undefined
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined
}

/** What one call can set. */
export interface RequestOptions {
  /** Ends the call, and the attempts that would follow. It then throws the reason of the signal. */
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
}

/** Options of a call that the service does only once. */
export interface IdempotentOptions extends RequestOptions {
  /**
   * Default: a random key, the same for all attempts of the call, and none with `maxRetries: 0`. Set your own to repeat a call
   * after a restart.
   */
  idempotencyKey?: string | undefined
}

export type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>

/** A request, as the methods of the resources describe it. */
export interface ApiRequest {
  method: string
  /** Made with `path`. */
  path: string
  query?: QueryValues | undefined
  headers?: Readonly<Record<string, string | undefined>>
  /** Sent as JSON. */
  body?: unknown
  /** Sent with the body as a form. */
  files?: Files | undefined
  /** Present when the operation takes a key. */
  idempotencyKey?: string | undefined
  takesKey?: boolean
}

/** Statuses of a raw response that are no errors: nothing changed since, or a redirect that the caller wants to see. */
const RAW_STATUSES = [302, 304]

/** Sends the requests of one application to one service. */
export class Client {
  readonly #options: ResolvedOptions

  constructor(options: ClientOptions) {
    if (!/^https?:\/\//.test(options.baseUrl)) {
      throw new PosthornError('baseUrl must be an address such as https://mail.example.com.')
    }
    this.#options = {
      baseUrl: options.baseUrl.replace(/\/+$/, ''),
      apiKey: options.apiKey ?? '',
      timeoutMs: options.timeoutMs ?? 60_000,
      maxRetries: options.maxRetries ?? DEFAULT_RETRIES,
      maxRetryDelayMs: options.maxRetryDelayMs ?? 60_000,
      // Browsers refuse to call it as a method of another object.
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    }
  }

  /** The JSON of the response. */
  json<Result>(request: ApiRequest, options: RequestOptions = {}): Promise<Result> {
    return this.#send(request, options, async (response) => {
      const value = parseObject(await readText(response))
      if (value !== undefined) return value as Result
      const { baseUrl } = this.#options
      throw new InvalidResponseError(
        `${baseUrl} responded ${response.status}, but not with JSON. Check baseUrl.`,
        response.status,
      )
    })
  }

  /** The text of the response. */
  text(request: ApiRequest, options: RequestOptions = {}): Promise<string> {
    return this.#send(request, options, readText)
  }

  /** The response, as soon as its headers have arrived. Its body may pause for `timeoutMs` at most. */
  raw(request: ApiRequest, options: RequestOptions & { idleMs?: number } = {}): Promise<Response> {
    const idleMs = options.idleMs ?? options.timeoutMs ?? this.#options.timeoutMs
    return this.#send(request, options, async ({ body, status, statusText, headers }, deadline) => {
      return new Response(body && deadline.guard(body, idleMs), { status, statusText, headers })
    })
  }

  /** Makes attempts until one succeeds. `read` belongs to the attempt. */
  async #send<Result>(request: ApiRequest, options: RequestOptions, read: Read<Result>): Promise<Result> {
    const { maxRetries = this.#options.maxRetries, signal } = options
    const sent = this.#encode(request, maxRetries > 0)
    const isRepeatable = request.method !== 'POST' || sent.headers['idempotency-key'] !== undefined
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#attempt(request, sent, options, read)
      } catch (error) {
        if (failures > maxRetries || sent.isStream || !isRetryable(error, isRepeatable)) throw error
        const delayMs = retryDelayMs(failures, error, this.#options.maxRetryDelayMs)
        if (delayMs === undefined) throw error
        await pause(delayMs, signal)
      }
    }
  }

  async #attempt<Result>(
    request: ApiRequest,
    { body, headers, isStream }: SentBody,
    { timeoutMs = this.#options.timeoutMs, signal }: RequestOptions,
    read: Read<Result>,
  ): Promise<Result> {
    signal?.throwIfAborted()
    const deadline = startDeadline(timeoutMs, signal)
    try {
      const response = await this.#options.fetch(this.#url(request), {
        method: request.method,
        headers,
        // The key must not follow to another address.
        redirect: 'manual',
        signal: deadline.signal,
        ...(body !== undefined && { body }),
        ...(isStream && { duplex: 'half' }),
      })
      if (!response.ok && !RAW_STATUSES.includes(response.status)) throw await readError(response)
      return await read(response, deadline)
    } catch (error) {
      deadline.throwIfOver()
      if (error instanceof PosthornError) throw error
      throw new ConnectionError(`Cannot reach ${this.#options.baseUrl} (${reasonOf(error)}).`, { cause: error })
    } finally {
      deadline.clear()
    }
  }

  /** @param isRepeated makes a key for the attempts of this call; a single attempt needs none */
  #encode({ body, files, headers = {}, takesKey, idempotencyKey }: ApiRequest, isRepeated: boolean): SentBody {
    const { apiKey } = this.#options
    const encoded = body === undefined ? undefined : files === undefined ? encodeJson(body) : encodeForm(body, files)
    const values: Record<string, string | undefined> = {
      ...headers,
      ...encoded?.headers,
      authorization: apiKey === '' ? undefined : `Bearer ${apiKey}`,
      'idempotency-key': idempotencyKey ?? (takesKey && isRepeated ? `sdk-${randomHex()}` : undefined),
    }
    const sent = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return { body: encoded?.body, headers: Object.fromEntries(sent), isStream: encoded?.isStream ?? false }
  }

  #url({ path, query = {} }: ApiRequest): string {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
    const end = search.toString()
    return `${this.#options.baseUrl}${path}${end && `?${end}`}`
  }
}

/** With every default. */
type ResolvedOptions = { [Name in keyof ClientOptions]-?: Exclude<ClientOptions[Name], undefined> }
type Read<Result> = (response: Response, deadline: Deadline) => Promise<Result>
type SentBody = Omit<EncodedBody, 'body'> & { body: EncodedBody['body'] | undefined }

/** The path of a request. Throws for an id that would lead to another path. */
export function path(texts: TemplateStringsArray, ...ids: string[]): string {
  return texts.reduce((start, text, index) => {
    const id = ids[index - 1] ?? ''
    if (id === '' || id === '.' || id === '..') throw new PosthornError(`"${id}" is not an id.`)
    return start + encodeURIComponent(id) + text
  })
}

/** The text of a response that succeeded. */
async function readText(response: Response): Promise<string> {
  if (!response.ok) throw await readError(response)
  return response.text()
}

/** Every JSON response of the service is an object. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Network errors say what happened in their cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error))
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
