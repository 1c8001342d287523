import type { FakeRequest } from './http-server.ts'

/** What the consent page was asked for, kept until its code is exchanged: the packages' pages forget most of it. */
export interface Consent {
  redirectUri: string
  state: string
  scope: string
  prompt: string
  accessType: string
  tenant: string
}

export function consentOf(query: URLSearchParams, tenant = ''): Consent {
  const value = (name: string) => query.get(name) ?? ''
  return {
    redirectUri: value('redirect_uri'),
    state: value('state'),
    scope: value('scope'),
    prompt: value('prompt'),
    accessType: value('access_type'),
    tenant,
  }
}

export const form = (request: FakeRequest): URLSearchParams => new URLSearchParams(request.body.toString())

/** A form with the client's name and secret in it, also when they came in a Basic header. */
export function clientForm(request: FakeRequest): URLSearchParams {
  const fields = form(request)
  const basic = /^Basic\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (basic === undefined) return fields
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':')
  fields.set('client_id', decodeURIComponent(id))
  fields.set('client_secret', decodeURIComponent(secret))
  return fields
}

/** Where the browser goes when somebody says no. */
export function deniedUrl(consent: Consent, error: string, description?: string): string {
  const url = new URL(consent.redirectUri)
  url.searchParams.set('error', error)
  if (description) url.searchParams.set('error_description', description)
  url.searchParams.set('state', consent.state)
  return url.toString()
}

/** The package's page, with the way out that it lacks. */
export function withCancel(page: string, href: string): string {
  const link = `<p style="position:relative;z-index:1;text-align:center"><a id="cancel" href="${href.replace(/&/g, '&amp;').replace(/"/g, '&quot;')}">Cancel</a></p>`
  return page.replace('</body>', `${link}</body>`)
}

/** Only S256 is taken, as this service promises to use it; the real ones are laxer. */
export function lacksPkce(query: URLSearchParams): boolean {
  return query.get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(query.get('code_challenge') ?? '')
}
