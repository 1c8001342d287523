export interface DavRequest {
  method: string
  body?: string | undefined
  headers?: Record<string, string>
  login?: { user: string; password: string }
}

/** A request of another calendar program. Throws for an error status. Returns the body. */
export async function requestDav(url: string, { method, body, headers = {}, login }: DavRequest): Promise<string> {
  const type = method === 'PUT' ? 'text/calendar; charset=utf-8' : 'text/xml'
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
