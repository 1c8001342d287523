import { trustedHosts } from './trusted-hosts.ts'

/**
 * Servers write the same path in several ways: `/a%40b/`, `/a@b/`, with or without the host. Behind a proxy they name the host and the
 * scheme that they know of, or a host beside it: only the path counts, because every request goes to `base`. Undefined for other hosts.
 */
export function resolvePath(href: string, base: URL): string | undefined {
  const url = resolveUrl(href, base)
  if (url === undefined) return undefined
  return url.origin === base.origin || trustedHosts([base.hostname])(url.hostname) ? url.pathname : undefined
}

/** Names that are equal in all spellings, apart from `.` and `..`. */
const PLAIN_NAME = /^(?!\.{1,2}$)(?:[\w.~!*'()-]|%40)+$/

/** Reads the paths of many objects as `resolvePath` does, and the path of the folder that they share only once. */
export function pathReader(base: URL): (href: string) => string | undefined {
  let folder: { href: string; path: string | undefined } | undefined
  return (href) => {
    const nameAt = href.lastIndexOf('/') + 1
    const isPlain = /^\/[^/?#\\]/.test(href) && !/[?#]/.test(href) && PLAIN_NAME.test(href.slice(nameAt))
    if (!isPlain || href.length > MAX_HREF) return resolvePath(href, base)
    const folderHref = href.slice(0, nameAt)
    if (folder?.href !== folderHref) folder = { href: folderHref, path: resolvePath(folderHref, base) }
    return folder.path === undefined ? undefined : folder.path + href.slice(nameAt)
  }
}

/** With the path in its one spelling, without query and fragment. Undefined when it is not a web address. */
export function resolveUrl(href: string, base: URL | undefined): URL | undefined {
  if (href === '' || href.length > MAX_HREF || !URL.canParse(href, base?.href)) return undefined
  const url = new URL(href, base)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined
  if (url.username !== '' || url.password !== '') return undefined
  try {
    const path = url.pathname.split('/').map((segment) => encodeURIComponent(decodeURIComponent(segment)))
    return new URL(path.join('/'), url.origin)
  } catch {
    // A percent sign that is not an escape.
    return new URL(url.pathname, url.origin)
  }
}

/** Only what is directly in the collection: a server cannot make us ask for anything else. */
export function isOwnPath(path: string, { pathname }: URL): boolean {
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`
  return path.startsWith(folder) && path !== folder && !path.slice(folder.length).includes('/')
}

const MAX_HREF = 2000
