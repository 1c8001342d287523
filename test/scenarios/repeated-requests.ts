import { eventually } from '../kit/eventually.ts'

export interface RepeatedPost {
  path: string
  body: object
  /** The idempotency key of every attempt. */
  key: string
  /** Statuses after which the request is repeated. Default: the instance stops, or the first request with this key still runs. */
  repeatedAfter?: readonly number[]
}

const PATIENCE_MS = 300_000
const REQUEST_MS = 30_000

/** Repeats the request at the instances in turn, until one responds with success. Throws for any other response. */
export async function postToAny(
  instances: readonly { url: string; key: string }[],
  { path, body, key, repeatedAfter = [409, 503] }: RepeatedPost,
): Promise<void> {
  await eventually(async () => {
    for (const { url, key: apiKey } of instances) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_MS),
      }).catch(() => undefined)
      if (response?.ok) return
      if (response !== undefined && !repeatedAfter.includes(response.status))
        throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
    }
    throw new Error(`POST ${path}: no instance accepts requests`)
  }, PATIENCE_MS)
}
