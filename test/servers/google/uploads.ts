import { randomBytes } from 'node:crypto'
import type { Route, Routed } from '../fake/router.ts'
import { badRequest, notFound } from './errors.ts'

/** The request that an upload completes. */
export interface UploadTarget {
  method: 'POST' | 'PUT'
  /** Below `/gmail/v1`. */
  pattern: string
  /** Called when the last byte has arrived. */
  save(request: Routed, metadata: object, raw: Buffer): Response | Promise<Response>
}

/** Resumable uploads: the first request has the metadata and returns the address for the bytes. */
export function uploadRoutes(url: string, targets: readonly UploadTarget[]): Route[] {
  const begun = new Map<string, { metadata: object; bytes: number }>()

  function begin({ url: at, body, headers }: Routed) {
    if (at.searchParams.get('uploadType') !== 'resumable') return badRequest('Unsupported upload type')
    if (headers.get('x-upload-content-type') !== 'message/rfc822') return badRequest('Media type not supported')
    const id = randomBytes(8).toString('hex')
    const bytes = Number(headers.get('x-upload-content-length'))
    begun.set(id, { metadata: JSON.parse(body.toString() || '{}'), bytes })
    const location = `${url}${at.pathname}?uploadType=resumable&upload_id=${id}`
    return new Response(null, { headers: { location } })
  }

  return targets.flatMap(({ method, pattern, save }) => {
    const path = `/upload/gmail/v1${pattern}`
    const handle = (request: Routed) => {
      const id = request.url.searchParams.get('upload_id')
      if (id === null) return request.method === method ? begin(request) : notFound()
      const upload = begun.get(id)
      if (upload === undefined || request.method !== 'PUT') return notFound()
      if (upload.bytes !== request.body.length) return badRequest('The upload is incomplete')
      begun.delete(id)
      return save(request, upload.metadata, request.body)
    }
    const methods = method === 'PUT' ? ['PUT'] : [method, 'PUT']
    return methods.map((verb) => ({ method: verb, pattern: path, handle }))
  })
}
