import { ProviderError } from '../contract/index.ts'
import type { RestMailbox, RestRequest } from '../shared/rest/index.ts'
import { ME } from './client.ts'

/** Gmail accepts more in one request, but advises uploads from 5 MB. */
export const MAX_INLINE_BYTES = 4 * 1024 * 1024
const UPLOAD_MS = 15 * 60_000

export interface Upload {
  method: 'POST' | 'PUT'
  /** Below the user: `/messages/send`. */
  path: string
  /** The resource without its bytes. */
  metadata: object
  raw: Buffer
  doing: string
  signal?: AbortSignal | undefined
}

/** Begins a resumable upload and returns the request with the bytes. Gmail saves or sends the message when it has the last one. */
export async function beginUpload(mailbox: RestMailbox, upload: Upload): Promise<RestRequest> {
  const { method, path, metadata, raw, doing, signal } = upload
  const { headers, body } = await mailbox.open({
    method,
    path: `/upload${ME}${path}`,
    query: { uploadType: 'resumable' },
    doing,
    signal,
    body: metadata,
    headers: { 'x-upload-content-type': 'message/rfc822', 'x-upload-content-length': String(raw.length) },
  })
  body.destroy()
  const location = String(headers.location ?? '')
  if (!URL.canParse(location)) throw new ProviderError('unavailable', `${doing}: Gmail returned no upload address`)
  // Only the path: the token must not reach another host.
  const { pathname, search } = new URL(location)
  return {
    method: 'PUT',
    path: pathname + search,
    body: raw,
    doing,
    signal,
    timeoutMs: UPLOAD_MS,
    headers: { 'content-type': 'message/rfc822' },
  }
}
