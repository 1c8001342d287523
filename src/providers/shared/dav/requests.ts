/** Bodies of WebDAV requests (RFC 4918, 4791, 6578). */
export const NAMESPACES =
  'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:CR="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/" xmlns:A="http://apple.com/ns/ical/"'

/** `properties` as `D:getetag`. */
export function propfindBody(properties: readonly string[]): string {
  return xmlDocument(`<D:propfind ${NAMESPACES}>${buildProp(properties)}</D:propfind>`)
}

export function syncCollectionBody(token: string): string {
  return xmlDocument(
    `<D:sync-collection ${NAMESPACES}><D:sync-token>${escaped(token)}</D:sync-token><D:sync-level>1</D:sync-level>${buildProp(['D:getetag'])}</D:sync-collection>`,
  )
}

/** `report` as `C:calendar-multiget`; `data` is the property that has the text of an object. */
export function multigetBody(report: string, data: string, hrefs: readonly string[]): string {
  const list = hrefs.map((href) => `<D:href>${escaped(href)}</D:href>`).join('')
  return xmlDocument(`<${report} ${NAMESPACES}>${buildProp(['D:getetag', data])}${list}</${report}>`)
}

export function buildProp(properties: readonly string[]): string {
  return `<D:prop>${properties.map((name) => `<${name}/>`).join('')}</D:prop>`
}

export function xmlDocument(root: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n${root}`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
