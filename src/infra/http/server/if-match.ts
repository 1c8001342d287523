import { invalid } from '../../../lib/errors.ts'

/** The version that a request is for. Undefined without the header, and for `*`, which any version matches. */
export function ifMatchVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const version = /^\s*(?:W\/)?"?(\d{1,15})"?\s*$/.exec(header)?.[1]
  if (version === undefined) throw invalid('headers.if-match', 'must be the version from a response, or *')
  return Number(version)
}
