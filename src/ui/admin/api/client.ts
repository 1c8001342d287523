/** The service, from the address of this script (`…/admin/assets/x.js`): right wherever a proxy serves it. */
export const ROOT = new URL(/* @vite-ignore */ '../../', import.meta.url)

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>

/** An error response of the API, or the absence of a response. The message says what failed and what to do. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: readonly { path: string; message: string }[]
  readonly requestId: string | undefined
  readonly docUrl: string | undefined

  constructor(status: number, body: Partial<ErrorBody> = {}) {
    super(body.error?.message ?? fallbackMessage(status))
    this.status = status
    this.code = body.error?.code ?? 'unreachable'
    this.details = body.error?.details ?? []
    this.requestId = body.requestId
    this.docUrl = body.error?.docUrl
  }
}

interface ErrorBody {
  error: { code: string; message: string; docUrl?: string; details?: { path: string; message: string }[] }
  requestId: string
}

function fallbackMessage(status: number): string {
  if (status === 0) return 'The service does not respond. Check that it is running and that this device is online.'
  return `The service responded with ${status} and no explanation. A proxy in front of it may have refused the request; check its logs.`
}

export interface RequestOptions {
  query?: Query
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Set by the session; see `session.ts`. */
let csrfToken: string | undefined
let onSignedOut = () => {}

export function setCredentials(token: string | undefined, signedOut: () => void): void {
  csrfToken = token
  onSignedOut = signedOut
}

/** Requests later than this after the last click or key are the page's own and do not keep the session alive. */
const ATTENTION_MS = 60_000
let lastActionMs = Date.now()
for (const type of ['pointerdown', 'keydown']) {
  window.addEventListener(type, () => {
    lastActionMs = Date.now()
  })
}

/** For every request. A stream is never the work of a person. */
export function ownHeaders(isBackground = Date.now() - lastActionMs > ATTENTION_MS): Record<string, string> {
  return isBackground ? { 'x-background': '1' } : {}
}

/** The address of a path of the API, such as `/accounts`. Empty parameters are left out. */
export function apiUrl(path: string, query: Query = {}): string {
  const url = new URL(path.slice(1), ROOT)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, String(value))
  }
  return url.href
}

/** Sends a request with the session's cookie. Throws `ApiError`. */
async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query, body, headers, signal } = options
  const response = await fetch(apiUrl(path, query), {
    method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      ...ownHeaders(),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(method !== 'GET' && csrfToken !== undefined && { 'x-csrf-token': csrfToken }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0)
  })
  if (response.ok) return response
  const text = await response.text()
  const error = new ApiError(response.status, parsed(text))
  if (response.status === 401 && path !== '/admin/session') onSignedOut()
  throw error
}

function parsed(text: string): Partial<ErrorBody> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

async function json<Result>(method: string, path: string, options?: RequestOptions): Promise<Result> {
  const response = await send(method, path, options)
  return response.json()
}

export const api = {
  get: <Result>(path: string, query?: Query, signal?: AbortSignal) =>
    json<Result>('GET', path, { ...(query && { query }), ...(signal && { signal }) }),
  post: <Result>(path: string, body?: unknown, query?: Query) =>
    json<Result>('POST', path, { body: body ?? {}, ...(query && { query }) }),
  put: <Result>(path: string, body: unknown, headers?: Record<string, string>) =>
    json<Result>('PUT', path, { body, ...(headers && { headers }) }),
  patch: <Result>(path: string, body: unknown, headers?: Record<string, string>) =>
    json<Result>('PATCH', path, { body, ...(headers && { headers }) }),
  delete: <Result>(path: string, query?: Query) => json<Result>('DELETE', path, { ...(query && { query }) }),
}
