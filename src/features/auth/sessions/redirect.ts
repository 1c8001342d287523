import { AppError, invalid } from '../../../lib/errors.ts'

const REFUSED_SCHEMES = new Set(['javascript:', 'data:', 'file:', 'vbscript:', 'blob:'])
const MAX_LENGTH = 2048

/**
 * Where the browser goes in the end: the session's own target, else the service's. Applications on phones and desktops
 * have schemes of their own, so any passes but those that run or read something locally. Throws redirect_missing.
 */
export function redirectTarget(redirectUri: string | undefined, fallback: string | undefined): string {
  const target = redirectUri ?? fallback
  if (target === undefined) throw new AppError('redirect_missing')
  if (target.length > MAX_LENGTH) throw invalid('body.redirectUri', `must have at most ${MAX_LENGTH} characters`)
  // The parser drops tabs and line breaks first, as browsers do: `java\nscript:` is looked at as what it becomes.
  const url = URL.canParse(target) ? new URL(target) : undefined
  if (url === undefined) throw invalid('body.redirectUri', 'must be an absolute URL')
  if (REFUSED_SCHEMES.has(url.protocol)) throw invalid('body.redirectUri', `must not be a ${url.protocol} URL`)
  return url.href
}

export interface LinkedResult {
  accountId: string
  provider: string
  email: string
  session: string
  /** Only when the application chose one itself. */
  state: string | undefined
}

/** The target with the outcome in its query. Its own query is kept to the letter, but for the names that are ours. */
export function successUrl(target: string, result: LinkedResult): string {
  const { state, ...facts } = result
  const ours = new URLSearchParams({ status: 'success', ...facts, ...(state !== undefined && { state }) })
  const url = new URL(target)
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && ![...new URLSearchParams(pair).keys()].some((name) => ours.has(name)))
  url.search = [...kept, ours.toString()].join('&')
  return url.href
}
