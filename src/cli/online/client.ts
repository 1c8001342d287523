import { retryAfterMs } from '../../platform/concurrency/retry.ts'
import { describeError } from '../../platform/errors/describe-error.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { type CommandArguments, type Option, UsageError } from '../command.ts'
import { runningService, SERVICE_OPTIONS } from './running-service.ts'

/** Options of every command that calls a running service. */
export const ONLINE_OPTIONS = {
  json: { about: 'print the response of the API as JSON' },
  ...SERVICE_OPTIONS,
} satisfies Record<string, Option>

/** Options of commands that list. */
export const LIST_OPTIONS = {
  page: { value: 'NUMBER', about: 'the page to show, from 1' },
  limit: { value: 'NUMBER', about: 'items per page, at most 200; default 50' },
} satisfies Record<string, Option>

/**
 * Calls the API of a running service. Every method throws an error that says what to do, a `UsageError` when the API refuses the
 * input.
 */
export interface Client {
  get<T>(path: string, query?: Record<string, string | undefined>): Promise<T>
  post<T>(path: string, body?: unknown): Promise<T>
  put<T>(path: string, body: unknown): Promise<T>
  patch<T>(path: string, body: unknown): Promise<T>
  delete<T>(path: string): Promise<T>
  /** Like `post`, but returns what the service refuses, unless the key is at fault. */
  tryPost<T>(path: string, body: unknown): Promise<{ value: T } | { refusal: Refusal }>
}

/** The service refuses a request. */
export interface Refusal {
  status: number
  code: string
  message: string
  details: readonly { path: string; message: string }[]
  /** How long it asks to wait. */
  retryAfterMs: number | undefined
}

const TIMEOUT_MS = 60_000

export function client(args: CommandArguments): Client {
  const { url, key } = runningService(args)

  async function send(method: string, path: string, body?: unknown): Promise<{ response: Response; json: object }> {
    const response = await fetch(`${url}${path}`, {
      method,
      // The key must not follow to another address.
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new Error(
        `Cannot reach the service at ${url} (${describeError(error)}).\nStart it (posthorn start), or pass its address with --url.`,
      )
    })
    const text = await response.text()
    const json = parsed(text)
    if (json === undefined) {
      throw new Error(`${url} responded ${response.status}, but not as Posthorn does.\nCheck --url or PUBLIC_URL.`)
    }
    return { response, json }
  }

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { response, json } = await send(method, path, body)
    if (response.ok) return json as T
    throw failure(response.status, json)
  }

  return {
    get(path, query = {}) {
      const entries = Object.entries(query).filter(([, value]) => value !== undefined) as [string, string][]
      return call('GET', entries.length === 0 ? path : `${path}?${new URLSearchParams(entries)}`)
    },
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
    async tryPost(path, body) {
      const { response, json } = await send('POST', path, body)
      if (response.ok) return { value: json as never }
      const refusal = toRefusal(response, json)
      if (refusal.status === 401 || refusal.code === 'forbidden') throw failure(refusal.status, json)
      return { refusal }
    },
  }
}

/** The service has nothing of this name. */
export class NotFound extends Error {}

/** The key lacks a scope. */
export class Forbidden extends Error {}

function toRefusal({ status, headers }: Response, json: object): Refusal {
  const { code, details } = errorOf(json)
  return {
    status,
    code: typeof code === 'string' ? code : '',
    message: messageOf(status, json),
    details: Array.isArray(details) ? details : [],
    retryAfterMs: retryAfterMs(headers.get('retry-after') ?? undefined, systemClock.now()),
  }
}

function errorOf(json: object): { code?: unknown; message?: unknown; details?: unknown } {
  return 'error' in json && typeof json.error === 'object' && json.error !== null ? json.error : {}
}

function messageOf(status: number, json: object): string {
  const { message } = errorOf(json)
  return typeof message === 'string' ? message : `Status ${status}.`
}

function failure(status: number, json: object): Error {
  const message = messageOf(status, json)
  if (status === 400) return new UsageError(message)
  if (status === 401)
    return new Error(`${message}\nPass it with --key, or run the command where the service has its settings.`)
  if (status === 403) return new Forbidden(`${message}\nPass another key with --key. SERVICE_API_KEY has every scope.`)
  return status === 404 ? new NotFound(message) : new Error(message)
}

function parsed(text: string): object | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null ? json : undefined
  } catch {
    return undefined
  }
}

/** The only operand of a command. Throws `UsageError` without it. */
export function requireOperand({ operands }: CommandArguments, command: string, what: string, find: string): string {
  const [operand] = operands
  if (operand === undefined) throw new UsageError(`${command} needs ${what}. List them: ${find}`)
  return operand
}

/** The page and limit of a list, as the query of the API. */
export function parsePage({ options }: CommandArguments): Record<string, string | undefined> {
  for (const name of ['page', 'limit']) {
    const value = options[name]
    if (value !== undefined && !/^[1-9]\d{0,8}$/.test(value)) {
      throw new UsageError(`--${name} must be a whole number from 1.`)
    }
  }
  return { page: options.page, limit: options.limit }
}
