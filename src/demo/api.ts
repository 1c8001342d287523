/** Calls the API over HTTP with the key, as an application does. */
export interface DemoApi {
  post<T>(path: string, body: Record<string, unknown>): Promise<T>
  get<T>(path: string): Promise<T>
}

const TIMEOUT_MS = 15_000

export function demoApi(url: string, key: string): DemoApi {
  async function call<T>(method: string, path: string, body?: Record<string, unknown>): Promise<T> {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text.slice(0, 500)}`)
    return JSON.parse(text) as T
  }
  return { post: (path, body) => call('POST', path, body), get: (path) => call('GET', path) }
}
