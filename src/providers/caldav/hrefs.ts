/** Servers write the same path in several ways: `/a%40b/`, `/a@b/`, with or without the host. Undefined for other origins. */
export function pathOf(href: string, base: URL): string | undefined {
  const url = urlOf(href, base)
  return url === undefined || url.origin !== base.origin ? undefined : url.pathname
}

/** With the path in its one spelling, without query and fragment. Undefined when it is not a web address. */
export function urlOf(href: string, base: URL | undefined): URL | undefined {
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

const MAX_HREF = 2000
