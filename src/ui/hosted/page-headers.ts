import type { Brand } from './brand.ts'

/** Keep other sites from framing, scripting, observing or caching a response. Its policy allows nothing, for responses that are no page. */
export const HARDENED = {
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}

interface PagePolicy {
  /** As in the page's context. */
  nonce: string
  /** The origin that forms of the page may post to. Default: none. */
  formAction?: string
}

/** The headers of a page: its own style and script, and the logos of the brand, are all it can load. */
export function pageHeaders({ logo, logoDark }: Brand, { nonce, formAction = `'none'` }: PagePolicy) {
  const policy = [
    `default-src 'none'`,
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    ['img-src data:', logo?.origin, logoDark?.origin].filter((part) => part !== undefined).join(' '),
    `form-action ${formAction}`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ]
  return { ...HARDENED, 'content-security-policy': policy.join('; ') }
}
