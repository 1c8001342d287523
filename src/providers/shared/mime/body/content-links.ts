/** How many characters of one link are read. */
export const MAX_CONTENT_LINK = 500
const LINK = new RegExp(`\\bcid:([^\\s"'<>)]{1,${MAX_CONTENT_LINK}})`, 'gi')

/** The Content-IDs that HTML links to (RFC 2392), in lower case. */
export function* linkedContentIds(html: string): Generator<string> {
  for (const [, id = ''] of html.matchAll(LINK)) {
    yield id.toLowerCase()
    yield percentDecoded(id.replaceAll('&amp;', '&')).toLowerCase()
  }
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
