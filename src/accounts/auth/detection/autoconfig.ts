import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { readXml, type XmlElement, XmlLimitError, type XmlLimits } from '../../../platform/formats/xml.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'

/** A mail server that the form proposes. The user can change every value. */
export interface ProposedServer {
  host: string
  port: number
  /** True for implicit TLS, false for STARTTLS. */
  secure: boolean
  /** Absent when it equals the address. */
  username?: string
}

const MAX_REDIRECTS = 5
/** Published documents have about 4 KB. */
const MAX_DOCUMENT_BYTES = 16 * 1024
const LIMITS: XmlLimits = {
  bytes: MAX_DOCUMENT_BYTES,
  depth: 10,
  elements: 500,
  elementsOfOne: 500,
  attributes: 10,
  namespaces: 10,
}
const TIMEOUT_MS = 3000
/** More than any domain has. */
const MAX_SERVERS = 20
const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62})?(\.[a-z0-9]([a-z0-9-]{0,62})?)+$/

/**
 * Reads the configuration that a domain publishes for mail clients (Thunderbird's autoconfig). Uses https only and passes
 * the address guard. Returns undefined when it finds nothing usable; throws programming errors only.
 */
export async function autoconfigServer(
  outbound: Outbound,
  email: string,
  domain: string,
): Promise<ProposedServer | undefined> {
  const query = new URLSearchParams({ emailaddress: email })
  const lookups = [
    `https://autoconfig.${domain}/mail/config-v1.1.xml?${query}`,
    `https://${domain}/.well-known/autoconfig/mail/config-v1.1.xml?${query}`,
  ].map(async (url) => {
    try {
      const document = await download(outbound, url)
      return document === undefined ? undefined : await parseImapServer(document, email)
    } catch (error) {
      rethrowProgrammingError(error)
      // An unreachable or hostile server means no proposal.
      return undefined
    }
  })
  // The loop may end before it awaits the second one, whose error would then end the process.
  for (const lookup of lookups) lookup.catch(() => {})
  for (const lookup of lookups) {
    const server = await lookup
    if (server !== undefined) return server
  }
  return undefined
}

/** Follows redirects itself, because each one must be https. */
async function download(outbound: Outbound, first: string): Promise<string | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  let url = new URL(first)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    if (url.protocol !== 'https:') return undefined
    const response = await outbound.send({
      method: 'GET',
      url: url.href,
      headers: { accept: 'text/xml, application/xml' },
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_DOCUMENT_BYTES,
      signal,
    })
    const { status, truncated, body, headers } = response
    if (status === 200) return truncated ? undefined : body.toString('utf8')
    const { location } = headers
    const isRedirect = status >= 300 && status <= 399
    if (!isRedirect || typeof location !== 'string' || !URL.canParse(location, url.href)) return undefined
    url = new URL(location, url)
  }
  return undefined
}

/** The first server that accepts a password over implicit TLS, else over STARTTLS. */
export async function parseImapServer(xml: string, email: string): Promise<ProposedServer | undefined> {
  // Real documents contain no declarations.
  if (/<!(DOCTYPE|ENTITY)/i.test(xml)) return undefined
  const servers = (await readElements(xml)).flatMap((element): ProposedServer[] => {
    const host = childText(element, 'hostname').toLowerCase()
    const port = Number(childText(element, 'port'))
    const security = childText(element, 'socketType').toUpperCase()
    const methods = childTexts(element, 'authentication')
    const acceptsPassword =
      methods.length === 0 || methods.some((method) => /^(password-|plain$|secure$)/i.test(method))
    const isUsable = HOST.test(host) && Number.isInteger(port) && port > 0 && port < 65_536 && acceptsPassword
    if (!isUsable || (security !== 'SSL' && security !== 'STARTTLS')) return []
    const username = fillUsername(childText(element, 'username'), email)
    return [{ host, port, secure: security === 'SSL', ...(username !== undefined && { username }) }]
  })
  return servers.find((server) => server.secure) ?? servers[0]
}

/** The IMAP servers of a document; none when it is too large. */
async function readElements(xml: string): Promise<XmlElement[]> {
  const providers: XmlElement[] = []
  try {
    await readXml(Buffer.from(xml), {
      limits: LIMITS,
      qualifyName: (_namespace, localName) => localName,
      onElement: (element) => providers.push(element),
    })
  } catch (error) {
    if (error instanceof XmlLimitError) return []
    throw error
  }
  return providers
    .flatMap(({ children }) => children)
    .filter(({ name, attributes }) => name === 'incomingServer' && attributes.get('type')?.toLowerCase() === 'imap')
    .slice(0, MAX_SERVERS)
}

function childTexts(element: XmlElement, name: string): string[] {
  return element.children.filter((child) => child.name === name).map(({ text }) => text.trim())
}

function childText(element: XmlElement, name: string): string {
  return childTexts(element, name)[0] ?? ''
}

/** Undefined when the username equals the address or contains an unknown placeholder. */
function fillUsername(template: string, email: string): string | undefined {
  const at = email.lastIndexOf('@')
  const filled = template
    .replaceAll('%EMAILADDRESS%', email)
    .replaceAll('%EMAILLOCALPART%', email.slice(0, at))
    .replaceAll('%EMAILDOMAIN%', email.slice(at + 1))
  return filled === '' || filled === email || filled.includes('%') || filled.length > 320 ? undefined : filled
}
