export interface DavRequest {
  method: string
  body?: string | undefined
  headers?: Record<string, string>
  login?: { user: string; password: string }
}

/** A request of another calendar program. Throws for an error status. Returns the body. */
export async function requestDav(url: string, { method, body, headers = {}, login }: DavRequest): Promise<string> {
  const type = method !== 'PUT' ? 'text/xml' : `${url.endsWith('.vcf') ? 'text/vcard' : 'text/calendar'}; charset=utf-8`
  const basic = login && `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`
  const response = await fetch(url, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': type }),
      ...(basic !== undefined && { authorization: basic }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return text
}

/** The body of MKCALENDAR. `properties` are elements of `D:prop`. */
export function newCalendar(properties: string): string {
  return `<?xml version="1.0"?><C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="http://apple.com/ns/ical/"><D:set><D:prop>${properties}</D:prop></D:set></C:mkcalendar>`
}

/** The body of MKCOL for an address book (RFC 5689). */
export function newBook(name: string): string {
  return `<?xml version="1.0"?><D:mkcol xmlns:D="DAV:" xmlns:CR="urn:ietf:params:xml:ns:carddav"><D:set><D:prop><D:resourcetype><D:collection/><CR:addressbook/></D:resourcetype><D:displayname>${name}</D:displayname></D:prop></D:set></D:mkcol>`
}
