import type { Place } from '../kit/database/database.ts'
import { type ServiceProcess, SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { makeAuthority } from '../servers/authority.ts'
import { type Dovecot, startDovecot } from '../servers/dovecot.ts'
import { freePort } from '../servers/free-port.ts'
import { ISSUER_CLIENT, type Issuer, startIssuer } from '../servers/issuer.ts'
import { type Radicale, startRadicale } from '../servers/radicale.ts'
import { startPostfix } from '../servers/unpacked/postfix.ts'
import type { SubmissionServer } from '../servers/unpacked/submission-server.ts'
import { type Client, client } from './client.ts'

/** Two replicas of the built service, a real issuer, and servers of mail, calendars and contacts that take its access tokens only. */
export interface MailOAuthStage {
  issuer: Issuer
  dovecot: Dovecot
  postfix: SubmissionServer
  radicale: Radicale
  replicas: readonly [ServiceProcess, ServiceProcess]
  apis: readonly [Client, Client]
  /** The consent page of the issuer, as the hosted page leads to it. */
  consentUrl(email: string, session?: object): Promise<string>
  /** Connects a mailbox: hosted page, sign-in at the issuer, callback. Returns where the browser ends. */
  connect(email: string, session?: object): Promise<URL>
  close(): Promise<void>
}

const APPLICATION = 'https://app.example/done'

export async function startMailOAuthStage(place: Place): Promise<MailOAuthStage> {
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (let step = closers.pop(); step !== undefined; step = closers.pop()) await step()
  }
  try {
    const port = await freePort()
    const publicUrl = `http://127.0.0.1:${port}`
    const issuer = await startIssuer({ redirectUris: [`${publicUrl}/providers/acme/callback`] })
    closers.push(() => issuer.close())
    const authority = await makeAuthority()
    closers.push(() => authority.remove())
    const makeCertificate = (folder: string) => authority.issue(folder)
    const authPort = await freePort()
    const dovecot = await startDovecot({ oauth: issuer, authPort, makeCertificate })
    closers.push(() => dovecot.stop())
    const postfix = await startPostfix({ dovecotAuthPort: authPort, makeCertificate })
    closers.push(() => postfix.stop())
    const acme = {
      label: 'Acme Mail',
      ...ISSUER_CLIENT,
      authorizationUrl: `${issuer.url}/auth`,
      tokenUrl: `${issuer.url}/token`,
      revocationUrl: `${issuer.url}/token/revocation`,
      userinfoUrl: `${issuer.url}/me`,
      scopes: ['openid', 'email', 'offline_access'],
      authorizationParameters: { prompt: 'consent' },
      mxHosts: [],
      imap: { host: dovecot.host, port: dovecot.imapsPort },
      smtp: { host: postfix.host, port: postfix.port, secure: false },
    }
    const radicale = await startRadicale({ oauth: issuer })
    closers.push(() => radicale.stop())
    const env = {
      ...SHARED_KEYS,
      PUBLIC_URL: publicUrl,
      LOG_LEVEL: 'info',
      CONTACTS_ENABLED: 'true',
      NODE_EXTRA_CA_CERTS: authority.file,
      // The others as an import of another service finds them: by the names of the presets.
      OAUTH_PROVIDERS: JSON.stringify({
        acme: { ...acme, domains: ['acme.test'], caldavUrl: radicale.url },
        outlook: acme,
        mailru: acme,
      }),
    }
    const start = async (options: { port?: number } = {}) => {
      const service = await startServiceProcess({ ...place, env, ...options })
      closers.push(() => service.stop())
      return service
    }
    const replicas = [await start({ port }), await start()] as const
    const apis = [client(replicas[0].url, replicas[0].key), client(replicas[1].url, replicas[1].key)] as const

    async function consentUrl(email: string, session: object = {}): Promise<string> {
      const [api] = apis
      const { code } = await api.call<{ code: string }>('POST', '/auth/sessions', {
        redirectUri: APPLICATION,
        ...session,
      })
      const page = await postPage(replicas[0], { session: code, state: 's', email, provider: 'imap', signIn: 'oauth' })
      const [, href = ''] = /http-equiv="refresh" content="\d+;\s*url=([^"]+)"/i.exec(page) ?? []
      return href.replaceAll('&amp;', '&')
    }

    return {
      issuer,
      dovecot,
      postfix,
      radicale,
      replicas,
      apis,
      consentUrl,
      async connect(email, session) {
        const back = await issuer.signIn(await consentUrl(email, session), email)
        const response = await fetch(back, { redirect: 'manual', signal: AbortSignal.timeout(300_000) })
        const location = response.headers.get('location')
        if (location === null) throw new Error(`The callback returned ${response.status}: ${await response.text()}`)
        return new URL(location)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The page that follows from JSON of an application with the API key. */
export async function postPage({ url, key }: Pick<ServiceProcess, 'url' | 'key'>, body: object): Promise<string> {
  const response = await fetch(`${url}/auth/authorize`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/html' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(300_000),
  })
  return response.text()
}
