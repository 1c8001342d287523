import { domainToASCII } from 'node:url'
import type { MailLogins, MailOAuthProvider } from '../../../providers/mail-oauth/index.ts'
import type { Detection } from './detection.ts'
import { domainOf, knownServer } from './known-servers.ts'

/** Finds the sign-in of OAUTH_PROVIDERS that an address uses in place of a password. */
export interface MailSignIns {
  /** By the domains that the operator listed, which come before any other provider. */
  findListed(email: string): MailOAuthProvider | undefined
  /** Also by the mail server of the domain, and by its MX records; takes at most 6 s. */
  find(email: string): Promise<MailOAuthProvider | undefined>
  /** By its name, for accounts that signed in with it before. */
  get(name: string): MailOAuthProvider | undefined
}

export function mailSignIns(
  logins: MailLogins = new Map(),
  detection: Pick<Detection, 'findServer' | 'findMxHosts'>,
): MailSignIns {
  const providers = [...logins.values()].map(({ provider }) => provider)

  function findListed(email: string): MailOAuthProvider | undefined {
    const domain = domainToASCII(domainOf(email))
    return providers.find(({ domains }) => domains.includes(domain))
  }

  async function findByNetwork(email: string): Promise<MailOAuthProvider | undefined> {
    const mxHosts = await detection.findMxHosts(email)
    const byMx = providers.find((provider) => provider.mxHosts.some((host) => mxHosts.some((mx) => isWithin(mx, host))))
    if (byMx !== undefined) return byMx
    const server = await detection.findServer(email)
    return server && providers.find(({ imap }) => imap.host === server.host)
  }

  return {
    findListed,
    get: (name) => logins.get(name)?.provider,
    async find(email) {
      if (providers.length === 0 || email === '') return undefined
      const listed = findListed(email)
      if (listed !== undefined) return listed
      const known = knownServer(email)
      if (known === undefined) return findByNetwork(email)
      return providers.find(({ imap }) => imap.host === known.host)
    },
  }
}

function isWithin(host: string, parent: string): boolean {
  return host === parent || host.endsWith(`.${parent}`)
}
