import { readFileSync } from 'node:fs'
import * as Type from 'typebox'
import { errorCode } from '../../platform/errors/describe-error.ts'
import { asciiDomain } from '../../platform/formats/domain.ts'
import { schemaCheck, schemaFaults } from '../../platform/formats/schema-check.ts'
import { PRESETS } from './presets.ts'

/** One sign-in that users are offered in place of the password. */
export interface MailOAuthProvider {
  /** In OAUTH_PROVIDERS and in the callback address. */
  name: string
  /** For people. */
  label: string
  clientId: string
  /** Absent for public clients. */
  clientSecret?: string
  clientAuthentication: 'body' | 'header'
  pkce: boolean
  authorizationUrl: string
  tokenUrl: string
  revocationUrl?: string
  userinfoUrl?: string
  scopes: readonly string[]
  /** Requested, too, while contacts are switched on. */
  contactScopes: readonly string[]
  /** Named in each refresh. Microsoft otherwise issues no new refresh token. */
  refreshScope?: string
  authorizationParameters: Readonly<Record<string, string>>
  /** Addresses at these are sent here, before any other provider. */
  domains: readonly string[]
  /** Addresses whose domain has one of these mail exchangers, or one below them. */
  mxHosts: readonly string[]
  imap: MailOAuthServer
  smtp: MailOAuthServer
  caldavUrl?: string
  /** Absent: the server of `caldavUrl` is asked for contacts, too. */
  carddavUrl?: string
}

interface MailOAuthServer {
  host: string
  port: number
  security: 'tls' | 'starttls'
}

const text = Type.String({ minLength: 1, maxLength: 2048 })
const url = Type.String({ pattern: '^https?://[^/?#@\\s]+[^\\s]*$', maxLength: 2048 })
const texts = Type.Array(text, { maxItems: 1000 })
const server = Type.Object(
  { host: text, port: Type.Integer({ minimum: 1, maximum: 65_535 }), secure: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
)
const entrySchema = Type.Object(
  {
    preset: Type.Optional(text),
    label: text,
    clientId: text,
    clientSecret: Type.Optional(text),
    clientAuthentication: Type.Optional(Type.Enum(['body', 'header'])),
    pkce: Type.Optional(Type.Boolean()),
    authorizationUrl: url,
    tokenUrl: url,
    revocationUrl: Type.Optional(url),
    userinfoUrl: Type.Optional(url),
    scopes: Type.Array(text, { minItems: 1, maxItems: 100 }),
    contactScopes: Type.Optional(Type.Array(text, { maxItems: 100 })),
    refreshScope: Type.Optional(text),
    authorizationParameters: Type.Optional(Type.Record(Type.String(), text)),
    domains: Type.Optional(texts),
    mxHosts: Type.Optional(texts),
    imap: server,
    smtp: server,
    caldavUrl: Type.Optional(url),
    carddavUrl: Type.Optional(url),
  },
  { additionalProperties: false },
)

const isEntry = schemaCheck(entrySchema)
const entryFaults = schemaFaults(entrySchema)

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/
/** The providers with an API have these. */
const TAKEN = ['gmail', 'microsoft', 'imap']
const MAX_PROVIDERS = 100
const MAX_BYTES = 1024 * 1024

/** Reads OAUTH_PROVIDERS: a path, or the JSON itself. Each error names a member, and quotes no value. */
export function readOAuthProviders(pathOrJson: string | undefined): {
  providers: MailOAuthProvider[]
  errors: string[]
} {
  if (pathOrJson === undefined) return { providers: [], errors: [] }
  const read = readEntries(pathOrJson)
  if ('error' in read) return { providers: [], errors: [`OAUTH_PROVIDERS ${read.error}`] }
  const providers: MailOAuthProvider[] = []
  const errors: string[] = []
  for (const [name, entry] of read.entries) {
    const fault = nameFault(name)
    if (fault !== undefined) {
      errors.push(`OAUTH_PROVIDERS: ${fault}`)
      continue
    }
    const parsed = parseEntry(name, entry)
    if ('provider' in parsed) providers.push(parsed.provider)
    else errors.push(...parsed.errors.map((error) => `OAUTH_PROVIDERS: ${name}${error}`))
  }
  return { providers, errors }
}

function readEntries(pathOrJson: string): { entries: [string, unknown][] } | { error: string } {
  let json = pathOrJson
  if (!pathOrJson.trimStart().startsWith('{')) {
    try {
      json = readFileSync(pathOrJson, 'utf8')
    } catch (error) {
      return { error: `names a file that cannot be read (${errorCode(error) || 'unreadable'}).` }
    }
  }
  if (json.length > MAX_BYTES) return { error: 'is too long.' }
  try {
    const value: unknown = JSON.parse(json)
    if (!isObject(value)) return { error: 'must be a JSON object with a member for each provider.' }
    const entries = Object.entries(value)
    return entries.length > MAX_PROVIDERS ? { error: `names more than ${MAX_PROVIDERS} providers.` } : { entries }
  } catch {
    return { error: 'is not valid JSON.' }
  }
}

function nameFault(name: string): string | undefined {
  if (!NAME.test(name)) return 'a name may have only lower-case letters, digits and hyphens.'
  return TAKEN.includes(name) ? `the name ${name} is taken by a provider of this service. Choose another.` : undefined
}

function parseEntry(name: string, entry: unknown): { provider: MailOAuthProvider } | { errors: string[] } {
  if (!isObject(entry)) return { errors: [' must be an object.'] }
  const presetName = typeof entry.preset === 'string' ? entry.preset : name
  const preset = Object.hasOwn(PRESETS, presetName) ? PRESETS[presetName] : undefined
  if (entry.preset !== undefined && preset === undefined) {
    return { errors: [`.preset must be one of ${Object.keys(PRESETS).join(', ')}.`] }
  }
  // Scopes of the operator replace all of the preset's.
  const merged: unknown = { ...preset, ...(entry.scopes !== undefined && { contactScopes: [] }), ...entry }
  if (!isEntry(merged)) {
    const errors = entryFaults(merged).map(({ path, message }) => `${path.replaceAll('/', '.')} ${message}.`)
    return { errors: [...new Set(errors)].slice(0, 10) }
  }
  const { clientAuthentication = 'body', pkce = true, imap, smtp, ...members } = merged
  const {
    preset: _preset,
    domains = [],
    mxHosts = [],
    authorizationParameters = {},
    contactScopes = [],
    ...rest
  } = members
  return {
    provider: {
      ...rest,
      name,
      clientAuthentication,
      pkce,
      authorizationParameters,
      contactScopes,
      domains: domains.flatMap((domain) => asciiDomain(domain.toLowerCase()) ?? []),
      mxHosts: mxHosts.map((host) => host.toLowerCase()),
      imap: toServer(imap),
      smtp: toServer(smtp),
    },
  }
}

function toServer({ host, port, secure = true }: { host: string; port: number; secure?: boolean }): MailOAuthServer {
  return { host: host.toLowerCase(), port, security: secure ? 'tls' : 'starttls' }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
