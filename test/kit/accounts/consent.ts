import { systemClock } from '../../../src/platform/time/clock.ts'
import type { LoginProvider } from '../../../src/providers/contract/index.ts'
import { gmailLogin } from '../../../src/providers/gmail/index.ts'
import { microsoftLogin } from '../../../src/providers/microsoft/index.ts'
import { type Google, startGoogle } from '../../servers/google.ts'
import { type Microsoft, startMicrosoft } from '../../servers/microsoft.ts'

/** A fake provider, its OAuth client, and the user's actions on its consent page. */
export interface ConsentSite {
  provider: 'gmail' | 'microsoft'
  server: Google | Microsoft
  login: LoginProvider
  /** The mail scope of this provider. */
  mailScope: string
  /** Chooses the user on the page. Returns the URL that the browser is sent to. */
  consent(consentUrl: string, user: string): Promise<string>
}

export async function googleSite(): Promise<ConsentSite & { server: Google }> {
  const server = await startGoogle()
  const { GOOGLE_AUTH_URL = '', GOOGLE_TOKEN_URL = '', GOOGLE_USERINFO_URL = '' } = server.settings
  const login = gmailLogin({
    ...toClient(server),
    authUrl: GOOGLE_AUTH_URL,
    tokenUrl: GOOGLE_TOKEN_URL,
    userinfoUrl: GOOGLE_USERINFO_URL,
  })
  const mailScope = 'https://www.googleapis.com/auth/gmail.modify'
  return { provider: 'gmail', server, login, mailScope, consent: pick(`${server.url}/o/oauth2/v2/auth/callback`) }
}

export async function microsoftSite(): Promise<ConsentSite & { server: Microsoft }> {
  const server = await startMicrosoft()
  const login = microsoftLogin({
    ...toClient(server),
    tenant: 'common',
    loginUrl: server.url,
    graphUrl: server.url,
  })
  const consent = pick(`${server.url}/oauth2/v2.0/authorize/callback`)
  return { provider: 'microsoft', server, login, mailScope: 'Mail.ReadWrite', consent }
}

function toClient({ client }: Google | Microsoft) {
  return { clientId: client.id, clientSecret: client.secret, clock: systemClock }
}

/** Opens the page and posts its form, like the button of that user. */
function pick(action: string): ConsentSite['consent'] {
  return async (consentUrl, user) => {
    const page = await fetch(consentUrl)
    const text = await page.text()
    if (!page.ok) throw new Error(`The consent page returned ${page.status}: ${text}`)
    const { searchParams } = new URL(consentUrl)
    const names = ['client_id', 'redirect_uri', 'scope', 'state', 'code_challenge', 'code_challenge_method', 'nonce']
    const fields = Object.fromEntries(names.map((name) => [name, searchParams.get(name) ?? '']))
    const body = new URLSearchParams({ ...fields, email: user })
    const response = await fetch(action, { method: 'POST', body, redirect: 'manual' })
    const location = response.headers.get('location')
    if (location === null) throw new Error(`The consent form returned ${response.status}: ${await response.text()}`)
    return location
  }
}
