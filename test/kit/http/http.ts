/** The response to one request. */
export interface ApiResponse {
  status: number
  headers: Headers
  text: string
  /** The parsed JSON body. Untyped, because tests assert on its members. */
  json: ReturnType<typeof JSON.parse>
}

export interface RequestOptions {
  headers?: Record<string, string>
  /** Objects are sent as JSON, strings and forms unchanged. */
  body?: unknown
}

export interface Api {
  readonly url: string
  request(method: string, path: string, options?: RequestOptions): Promise<ApiResponse>
  get(path: string, headers?: Record<string, string>): Promise<ApiResponse>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>
  delete(path: string, headers?: Record<string, string>): Promise<ApiResponse>
  /** Posts a form like a browser. */
  form(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<ApiResponse>
}

const TIMEOUT_MS = 300_000

/** A client of one service, with or without a key. Returns every status, follows no redirects, throws on network errors. */
export function api(url: string, key?: string): Api {
  async function request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const { body } = options
    const isForm = body instanceof URLSearchParams || body instanceof FormData
    const raw = body === undefined || typeof body === 'string' || isForm
    const response = await fetch(new URL(path, url), {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
    }
  }
  const withHeaders = (headers: Record<string, string> | undefined) => (headers === undefined ? {} : { headers })
  return {
    url,
    request,
    get: (path, headers) => request('GET', path, withHeaders(headers)),
    post: (path, body, headers) => request('POST', path, { body, ...withHeaders(headers) }),
    put: (path, body, headers) => request('PUT', path, { body, ...withHeaders(headers) }),
    patch: (path, body, headers) => request('PATCH', path, { body, ...withHeaders(headers) }),
    delete: (path, headers) => request('DELETE', path, withHeaders(headers)),
    form: (path, fields, headers) =>
      request('POST', path, { body: new URLSearchParams(fields), ...withHeaders(headers) }),
  }
}
