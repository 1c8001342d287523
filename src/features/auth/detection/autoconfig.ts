import { DOMParser, type Element } from '@xmldom/xmldom'
import type { Outbound } from '../../../infra/http/index.ts'

/** A mail server to propose in the form, where everything of it can be changed. */
export interface ProposedServer {
  host: string
  port: number
  /** TLS from the first byte; else STARTTLS. */
  secure: boolean
  /** Absent: the address. */
  username?: string
}

const MAX_REDIRECTS = 5
const TIMEOUT_MS = 3000
/** More of them than any domain has; beyond, the document is there to keep its reader busy. */
const MAX_SERVERS = 20
const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62})?(\.[a-z0-9]([a-z0-9-]{0,62})?)+$/

/**
 * Thunderbird's autoconfig: what the domain itself says of its mail server, read over https only and through the address guard. Undefined
 * when it says nothing usable; never throws.
 */
export async function autoconfigServer(
  outbound: Outbound,
  email: string,
  domain: string,
): Promise<ProposedServer | undefined> {
  const query = new URLSearchParams({ emailaddress: email })
  const answers = [
    `https://autoconfig.${domain}/mail/config-v1.1.xml?${query}`,
    `https://${domain}/.well-known/autoconfig/mail/config-v1.1.xml?${query}`,
  ].map(async (url) => {
    try {
      const text = await read(outbound, url)
      return text === undefined ? undefined : imapServerOf(text, email)
    } catch {
      return undefined
    }
  })
  for (const answer of answers) {
    const server = await answer
    if (server !== undefined) return server
  }
  return undefined
}

async function read(outbound: Outbound, first: string): Promise<string | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  let url = new URL(first)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    if (url.protocol !== 'https:') return undefined
    const answer = await outbound.send({
      ...{ method: 'GET', url: url.href, headers: { accept: 'text/xml, application/xml' } },
      ...{ timeoutMs: TIMEOUT_MS, signal },
    })
    if (answer.status === 200) return answer.truncated ? undefined : answer.body.toString('utf8')
    const { location } = answer.headers
    if (
      answer.status < 300 ||
      answer.status > 399 ||
      typeof location !== 'string' ||
      !URL.canParse(location, url.href)
    ) {
      return undefined
    }
    url = new URL(location, url)
  }
  return undefined
}

/** The first server of the document that takes a password over TLS, else over STARTTLS. */
export function imapServerOf(xml: string, email: string): ProposedServer | undefined {
  // No document of this kind declares anything; one that does wants to be expanded.
  if (/<!(DOCTYPE|ENTITY)/i.test(xml)) return undefined
  const servers = elementsOf(xml).flatMap((element): ProposedServer[] => {
    const host = textOf(element, 'hostname').toLowerCase()
    const port = Number(textOf(element, 'port'))
    const security = textOf(element, 'socketType').toUpperCase()
    const methods = childrenOf(element, 'authentication')
    const takesPasswords = methods.length === 0 || methods.some((method) => /^(password-|plain$|secure$)/i.test(method))
    const isUsable = HOST.test(host) && Number.isInteger(port) && port > 0 && port < 65_536 && takesPasswords
    if (!isUsable || (security !== 'SSL' && security !== 'STARTTLS')) return []
    const username = usernameOf(textOf(element, 'username'), email)
    return [{ host, port, secure: security === 'SSL', ...(username !== undefined && { username }) }]
  })
  return servers.find((server) => server.secure) ?? servers[0]
}

function elementsOf(xml: string): Element[] {
  try {
    const strict = { onError: (_level: string, message: string) => raise(message) }
    const document = new DOMParser(strict).parseFromString(xml, 'text/xml')
    return [...document.getElementsByTagName('incomingServer')]
      .filter((element) => element.getAttribute('type')?.toLowerCase() === 'imap')
      .slice(0, MAX_SERVERS)
  } catch {
    return []
  }
}

function raise(message: string): never {
  throw new Error(message)
}

/** Its own children only: of servers inside servers inside servers each would be read again and again. */
const childrenOf = (element: Element, name: string) =>
  [...element.childNodes].filter((child) => child.nodeName === name).map((child) => (child.textContent ?? '').trim())

const textOf = (element: Element, name: string) => childrenOf(element, name)[0] ?? ''

/** Undefined for the address itself, and for what cannot be filled in. */
function usernameOf(template: string, email: string): string | undefined {
  const at = email.lastIndexOf('@')
  const filled = template
    .replaceAll('%EMAILADDRESS%', email)
    .replaceAll('%EMAILLOCALPART%', email.slice(0, at))
    .replaceAll('%EMAILDOMAIN%', email.slice(at + 1))
  return filled === '' || filled === email || filled.includes('%') || filled.length > 320 ? undefined : filled
}
