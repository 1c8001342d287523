import { type Brand, HARDENED } from '../hosted/index.ts'

interface BookingPolicy {
  nonce: string
  /** Origins of pages that may frame the page. Default: none. */
  ancestors?: readonly string[]
}

/** The headers of a booking page: its own scripts, requests and forms, and the logos of the brand, are all it can load. */
export function bookingHeaders({ logo, logoDark }: Brand, { nonce, ancestors }: BookingPolicy): Record<string, string> {
  const policy = [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'nonce-${nonce}'`,
    `connect-src 'self'`,
    ['img-src data:', logo?.origin, logoDark?.origin].filter((part) => part !== undefined).join(' '),
    `form-action 'self'`,
    `base-uri 'none'`,
    `frame-ancestors ${ancestors === undefined ? `'none'` : [`'self'`, ...ancestors].join(' ')}`,
  ]
  const { 'x-frame-options': frameOptions, ...headers } = HARDENED
  return {
    ...headers,
    'content-security-policy': policy.join('; '),
    // The older header cannot name origins.
    ...(ancestors === undefined && { 'x-frame-options': frameOptions }),
  }
}
