import { isIP } from 'node:net'

/** Second-level domains below which anyone can register, such as `co.uk`. */
const PUBLIC = new Set('ac co com edu gob gov go gv mil ne net nom or org'.split(' '))

/**
 * The hosts that may receive a password: those that the user named, with their subdomains and siblings (`imap.example.com` and
 * `caldav.example.com`), and the subdomains of the address's domain. DNS and redirects cannot add others.
 */
export function trustedHosts(named: readonly string[], domain?: string): (host: string) => boolean {
  const suffixes = named.flatMap((host) => [host, findSite(host)]).filter((host) => host !== undefined)
  if (domain !== undefined) suffixes.push(domain)
  return (host) => suffixes.some((suffix) => host === suffix || (isIP(suffix) === 0 && host.endsWith(`.${suffix}`)))
}

/** The domain above a host, unless it may belong to others. */
function findSite(host: string): string | undefined {
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return undefined
  const [, ...above] = host.split('.')
  const [second = '', top = ''] = above
  if (above.length < 2) return undefined
  return above.length === 2 && top.length === 2 && PUBLIC.has(second) ? undefined : above.join('.')
}
