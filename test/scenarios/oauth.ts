import { type ConsentSite, googleSite, microsoftSite } from '../kit/accounts/consent.ts'
import { type ServicePlace, type ServiceProcess, startServiceProcess } from '../kit/service/process.ts'
import { type Receiver, startReceiver } from '../servers/receiver.ts'
import { type ReverseProxy, startProxy } from '../servers/reverse-proxy.ts'
import { type Application, startApplication } from './application.ts'
import { type Client, client } from './client.ts'
import { subscribe } from './mailboxes.ts'

export type SiteName = 'gmail' | 'microsoft'

/** The built service behind a proxy, both fake providers, an application with webhooks, and its landing page. */
export interface OAuthStage {
  sites: Record<SiteName, ConsentSite>
  service: ServiceProcess
  proxy: ReverseProxy
  /** Through the proxy. */
  api: Client
  application: Application
  /** The page that users return to, with every request it received. */
  landing: Receiver
  /** Proxies that record the traffic between the service and the token endpoints. */
  tokenEndpoints: ReverseProxy[]
  close(): Promise<void>
}

export interface StageOptions {
  /** Path of PUBLIC_URL, which the proxy strips. */
  path?: string
  env?: Record<string, string>
  eventTypes?: string[]
}

export async function startOAuthStage(place: ServicePlace, options: StageOptions = {}): Promise<OAuthStage> {
  const closers: (() => Promise<unknown>)[] = []
  const opened = async <T>(opening: Promise<T>, close: (part: T) => Promise<unknown>) => {
    const part = await opening
    closers.push(() => close(part))
    return part
  }
  const close = async () => {
    for (let step = closers.pop(); step !== undefined; step = closers.pop()) await step()
  }
  try {
    const gmail = await opened(googleSite(), (site) => site.server.close())
    const microsoft = await opened(microsoftSite(), (site) => site.server.close())
    const application = await opened(startApplication(), (part) => part.close())
    const landing = await opened(startReceiver(), (part) => part.close())
    landing.always({ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Welcome back</h1>' })
    const proxy = await opened(startProxy(options.path), (part) => part.close())
    for (const site of [gmail, microsoft]) site.server.allowRedirect(`${proxy.url}/providers/${site.provider}/callback`)
    const [googleTokens, microsoftLogin] = [
      await opened(startProxy(), (part) => part.close()),
      await opened(startProxy(), (part) => part.close()),
    ]
    googleTokens.target = gmail.server.url
    microsoftLogin.target = microsoft.server.url
    const env = {
      ...gmail.server.settings,
      ...microsoft.server.settings,
      GOOGLE_TOKEN_URL: `${googleTokens.url}/token`,
      MICROSOFT_LOGIN_URL: microsoftLogin.url,
      PUBLIC_URL: proxy.url,
      ...place.env,
      ...options.env,
    }
    const service = await opened(startServiceProcess({ ...place, env }), (part) => part.stop())
    proxy.target = service.url
    const api = client(proxy.url, service.key)
    await subscribe(api, application, options.eventTypes ?? ['*'])
    return {
      sites: { gmail, microsoft },
      service,
      proxy,
      api,
      application,
      landing,
      tokenEndpoints: [googleTokens, microsoftLogin],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Starts a session through the API and returns the URL of the consent page. */
export async function consentUrl(api: Client, name: SiteName, email: string): Promise<string> {
  const session = await api.call<{ code: string }>('POST', '/auth/sessions', {
    redirectUri: 'https://app.example/done',
  })
  const start = { provider: name, state: 'mine', email }
  const path = `/auth/sessions/${session.code}/start`
  return (await api.call<{ authorizationUrl: string }>('POST', path, start)).authorizationUrl
}

/** Connects a mailbox through the API, without a browser. Returns the account id. */
export async function connectAt(
  { api, sites }: Pick<OAuthStage, 'api' | 'sites'>,
  name: SiteName,
  email: string,
): Promise<string> {
  let next = await consentUrl(api, name, email)
  // The service asks for consent again when the first grant has no refresh token.
  for (let attempts = 0; attempts < 3; attempts += 1) {
    const back = await sites[name].consent(next, email)
    const response = await fetch(back, { redirect: 'manual', signal: AbortSignal.timeout(300_000) })
    const location = new URL(response.headers.get('location') ?? 'http://nowhere.test')
    if (location.host === 'app.example') return location.searchParams.get('accountId') ?? ''
    if (response.status !== 302) throw new Error(`The callback returned ${response.status}: ${await response.text()}`)
    next = location.href
  }
  throw new Error('The service asked for consent more than three times.')
}
