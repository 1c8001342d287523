import type { FakeRequest } from './http-server.ts'

/** The parameters of an authorization request, kept until its code is exchanged. The emulators discard most of them. */
export interface Consent {
  redirectUri: string
  state: string
  scope: string
  prompt: string
  accessType: string
  tenant: string
}

export function parseConsent(query: URLSearchParams, tenant = ''): Consent {
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

/** The form fields, with the client credentials added if they came in a Basic header. */
export function clientForm(request: FakeRequest): URLSearchParams {
  const fields = form(request)
  const basic = /^Basic\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (basic === undefined) return fields
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':')
  fields.set('client_id', decodeURIComponent(id))
  fields.set('client_secret', decodeURIComponent(secret))
  return fields
}

/** The redirect that reports a denied consent. */
export function deniedUrl(consent: Consent, error: string, description?: string): string {
  const url = new URL(consent.redirectUri)
  url.searchParams.set('error', error)
  if (description) url.searchParams.set('error_description', description)
  url.searchParams.set('state', consent.state)
  return url.toString()
}

/** Adds a Cancel link, which the emulator's page lacks. */
export function withCancel(page: string, href: string): string {
  const link = `<p style="position:relative;z-index:1;text-align:center"><a id="cancel" href="${href.replace(/&/g, '&amp;').replace(/"/g, '&quot;')}">Cancel</a></p>`
  return page.replace('</body>', `${link}</body>`)
}

/** Requires S256, since the service promises to use it. Google and Microsoft accept requests without PKCE. */
export function lacksPkce(query: URLSearchParams): boolean {
  return query.get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(query.get('code_challenge') ?? '')
}

/** True for the page with which the emulators refuse a redirect address. */
export async function isMismatch(response: Response): Promise<boolean> {
  return response.status === 400 && (await response.clone().text()).includes('Redirect URI mismatch')
}
