import type { Client } from 'undici'

/** Reads one path of a service. Throws unless it answers with 200. */
export async function getJson<Body>(
  connection: Client,
  key: string,
  path: string,
): Promise<{ body: Body; tookMs: number }> {
  const startMs = performance.now()
  const response = await connection.request({ method: 'GET', path, headers: { authorization: `Bearer ${key}` } })
  const text = await response.body.text()
  const tookMs = performance.now() - startMs
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`)
  return { body: JSON.parse(text), tookMs }
}
