import { type ErrorDetail, invalid, invalidFields } from '../../platform/errors/app-error.ts'
import { cleanJson, cleanText } from '../../platform/formats/text.ts'
import type { AddressGuard } from '../../platform/net/index.ts'
import { MASK, validHeaders, validSecret, validUrl } from '../../platform/outbound/index.ts'
import type { UpdateBody } from './api.ts'
import { checkAvailability, checkForm, checkOrigins, checkZone } from './checks.ts'
import {
  CALLBACKS,
  type CallbackEndpoint,
  type CallbackName,
  type Definition,
  type Experience,
  type ExperienceSecrets,
} from './experience.ts'

/** The members that a request may set. The body of a creation has them too. */
type ExperienceInput = UpdateBody
type EndpointInput = NonNullable<ExperienceInput['bookingEndpoint']>

/** The fields that a request can change. */
export type Changes = Pick<Experience, 'name' | 'description' | 'timezone' | 'isActive' | 'definition' | 'secrets'>

const MAX_DEFINITION_BYTES = 64 * 1024

export const DEFAULTS: Omit<Changes, 'name' | 'secrets'> = {
  description: '',
  timezone: 'UTC',
  isActive: true,
  definition: {
    defaultAccountIds: [],
    metadata: {},
    availability: null,
    bookingForm: null,
    ui: null,
    allowedOrigins: [],
    endpoints: { availability: null, booking: null, routing: null },
  },
}

/** Throws validation_failed with one detail per fault. May look up host names, so it runs before the transaction. */
export async function checkInput(body: ExperienceInput, guard: AddressGuard): Promise<void> {
  const errors: ErrorDetail[] = []
  if (body.name !== undefined && cleanText(body.name).trim() === '') {
    errors.push({ path: 'body.name', message: 'must not be empty' })
  }
  checkZone('body.timezone', body.timezone ?? undefined, errors)
  if (body.availability) checkAvailability('body.availability', body.availability, errors)
  if (body.bookingForm) checkForm('body.bookingForm', body.bookingForm, errors)
  if (body.allowedOrigins) checkOrigins('body.allowedOrigins', body.allowedOrigins, errors)
  if (errors.length > 0) throw invalidFields(errors)
  for (const name of CALLBACKS) {
    const endpoint = body[endpointMember(name)]
    if (endpoint) await validUrl(endpoint.url, guard, `body.${endpointMember(name)}.url`)
  }
}

/** The accounts that a request names, with their paths. */
export function namedAccounts(body: ExperienceInput): { id: string; path: string }[] {
  const hosts = (body.defaultAccountIds ?? []).map((id, index) => ({ id, path: `body.defaultAccountIds.${index}` }))
  const routed = (body.bookingForm?.routing ?? []).flatMap(({ accountIds = [] }, rule) =>
    accountIds.map((id, index) => ({
      id,
      path: `body.bookingForm.routing.${rule}.accountIds.${index}`,
    })),
  )
  return [...hosts, ...routed]
}

/** The accounts that an experience names. */
export function storedAccounts({ defaultAccountIds, bookingForm }: Definition): string[] {
  return [...defaultAccountIds, ...(bookingForm?.routing ?? []).flatMap(({ accountIds = [] }) => accountIds)]
}

/**
 * The experience after a checked request: absent members stay, null clears, nested objects are replaced as a whole. Header
 * values and secrets of `***` stay. Throws validation_failed.
 */
export function changed(current: Changes, body: ExperienceInput): Changes {
  const { definition, secrets } = current
  const { endpoints, ...kept } = definition
  const merged: Definition = {
    defaultAccountIds: orStored(body.defaultAccountIds, kept.defaultAccountIds, []),
    metadata: orStored(body.metadata, kept.metadata, {}),
    availability: orStored(body.availability, kept.availability, null),
    bookingForm: orStored(body.bookingForm, kept.bookingForm, null),
    ui: orStored(body.ui, kept.ui, null),
    allowedOrigins: orStored(body.allowedOrigins, kept.allowedOrigins, []),
    endpoints: { ...endpoints },
  }
  const opened: ExperienceSecrets = { ...secrets, endpoints: { ...secrets.endpoints } }
  for (const name of CALLBACKS) {
    const endpoint = body[endpointMember(name)]
    if (endpoint === undefined) continue
    if (endpoint === null) {
      merged.endpoints[name] = null
      delete opened.endpoints[name]
    } else {
      merged.endpoints[name] = publicPart(endpoint)
      opened.endpoints[name] = secretPart(name, endpoint, secrets)
    }
  }
  const text = cleanJson(merged)
  if (Buffer.byteLength(text) > MAX_DEFINITION_BYTES) {
    throw invalid('body', 'must not make the experience larger than 64 KB')
  }
  return {
    name: cleanText(body.name ?? current.name),
    description: cleanText(orStored(body.description, current.description, DEFAULTS.description)),
    timezone: orStored(body.timezone, current.timezone, DEFAULTS.timezone),
    isActive: body.isActive ?? current.isActive,
    definition: JSON.parse(text),
    secrets: opened,
  }
}

function orStored<T>(input: T | null | undefined, stored: T, cleared: T): T {
  return input === undefined ? stored : (input ?? cleared)
}

function publicPart({ headers: _headers, secret: _secret, ...endpoint }: EndpointInput): CallbackEndpoint {
  return { ...endpoint, url: endpoint.url.trim() }
}

function secretPart(name: CallbackName, { headers, secret = null }: EndpointInput, stored: ExperienceSecrets) {
  const path = `body.${endpointMember(name)}`
  const endpoint = stored.endpoints[name]
  if (secret === MASK && !endpoint?.secret) throw invalid(`${path}.secret`, 'has no stored value to keep')
  return {
    headers: validHeaders(headers ?? {}, `${path}.headers`, endpoint?.headers),
    secret: secret === MASK ? (endpoint?.secret ?? null) : validSecret(secret, `${path}.secret`),
  }
}

function endpointMember<Name extends CallbackName>(name: Name): `${Name}Endpoint` {
  return `${name}Endpoint`
}
