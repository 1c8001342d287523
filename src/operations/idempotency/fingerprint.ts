import { canonical } from '../../platform/crypto/canonical.ts'
import { sha256 } from '../../platform/crypto/sha256.ts'
import { invalid } from '../../platform/errors/app-error.ts'

/** Identifies a request by its key and its content. */
export interface Fingerprint {
  /** Row id: hash of the key owner, method, path and header value. Equal for duplicates. */
  id: string
  /** Hash of query, body and files, independent of the order of members. */
  bodyHash: string
}

/** The parts of a request that the fingerprint covers. */
interface FingerprintedRequest {
  method: string
  url: string
  body: unknown
  /** The files of a multipart body. */
  files?: readonly { part: string; filename: string; contentType: string; hash: string }[] | undefined
  headers: Record<string, string | string[] | undefined>
  caller: { owner: string } | undefined
}

const MAX_KEY_CHARS = 256

/** Returns undefined without an Idempotency-Key header. Throws validation_failed for an empty or too long key. */
export function fingerprint(request: FingerprintedRequest): Fingerprint | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_CHARS) {
    throw invalid('headers.idempotency-key', `must have between 1 and ${MAX_KEY_CHARS} characters`)
  }
  const [path = '', query = ''] = request.url.split('?', 2)
  const files = request.files?.map(({ part, filename, contentType, hash }) => [part, filename, contentType, hash])
  return {
    id: hash([request.caller?.owner ?? 'session', request.method, path, key]),
    bodyHash: hash([query, canonical(request.body), ...(files === undefined ? [] : [files])]),
  }
}

function hash(value: unknown): string {
  return sha256(JSON.stringify(value), 'base64url')
}
