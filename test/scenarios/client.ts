/** A minimal API client. Throws on any status except 2xx, and after five minutes. */
export interface Client {
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<T>
}

export function client(url: string, key: string): Client {
  return {
    async call<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(300_000),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path} → ${response.status} ${text.slice(0, 500)}`)
      return JSON.parse(text) as T
    },
  }
}
