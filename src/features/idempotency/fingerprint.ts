import { createHash } from 'node:crypto'
import { invalid } from '../../lib/errors.ts'

/** What a first and a repeated request must have in common, and what may not differ. */
export interface Fingerprint {
  /** Names the row: key owner, method, path and the header's value. */
  id: string
  /** Of the query and the body, whatever the order of its members. */
  bodyHash: string
}

/** The parts of a request that count. */
export interface FingerprintedRequest {
  method: string
  url: string
  body: unknown
  headers: Record<string, string | string[] | undefined>
  caller: { owner: string } | undefined
}

const MAX_KEY_CHARS = 256

/** Undefined when the request carries no Idempotency-Key. */
export function fingerprint(request: FingerprintedRequest): Fingerprint | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_CHARS) {
    throw invalid('headers.idempotency-key', `must have between 1 and ${MAX_KEY_CHARS} characters`)
  }
  const [path = '', query = ''] = request.url.split('?', 2)
  return {
    id: hash([request.caller?.owner ?? 'session', request.method, path, key]),
    bodyHash: hash([query, sorted(request.body)]),
  }
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

/** Members in alphabetical order, so that two ways of writing one object are the same. */
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value ?? null
  if (Array.isArray(value)) return value.map(sorted)
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)])
}
