import { invalid } from '../../platform/errors/app-error.ts'
import { isEmailAddress } from '../../platform/formats/email-address.ts'
import type { TenantCredentialsOf } from '../../providers/contract/index.ts'
import { parseRsaKey } from '../../providers/shared/oauth/index.ts'
import type { UpdateConnectionBody } from './api.ts'

type Credentials = TenantCredentialsOf<'gmail'>
type Fields = Pick<UpdateConnectionBody, 'serviceAccountKey' | 'adminEmail'>

const KEY = 'body.serviceAccountKey'
const MAX_CHARS = 16_384

/** The credentials of a new connection. Throws validation_failed. */
export function parseGoogle({ serviceAccountKey, adminEmail }: Fields): Credentials {
  if (serviceAccountKey === undefined) throw invalid(KEY, 'is required')
  const { secrets, ...settings } = parseKeyFile(serviceAccountKey)
  return { provider: 'gmail', settings: { ...settings, adminEmail: parseAdmin(adminEmail) }, secrets }
}

/** The credentials with the new key or administrator of the body. Undefined when it has none. Throws validation_failed. */
export function renewGoogle({ settings, secrets }: Credentials, fields: Fields): Credentials | undefined {
  const { serviceAccountKey, adminEmail } = fields
  if (serviceAccountKey === undefined && adminEmail === undefined) return undefined
  const changed = { ...settings, ...(adminEmail !== undefined && { adminEmail: parseAdmin(adminEmail) }) }
  if (serviceAccountKey === undefined) return { provider: 'gmail', settings: changed, secrets }
  const file = parseKeyFile(serviceAccountKey)
  if (file.serviceAccountEmail !== settings.serviceAccountEmail) {
    throw invalid(
      KEY,
      `must be a key of ${settings.serviceAccountEmail}. Create a connection for another service account`,
    )
  }
  return { provider: 'gmail', settings: { ...changed, keyId: file.keyId }, secrets: file.secrets }
}

/** Reads the key file that Google issues. Its `token_uri` is not used, because the author of a file would receive the signed requests. */
function parseKeyFile(file: string | object) {
  const fields = typeof file === 'string' ? parseJson(file) : file
  const {
    type,
    client_email: email,
    client_id: clientId,
    private_key: privateKey,
    private_key_id: keyId,
  } = Object(fields)
  if (type !== 'service_account') throw invalid(KEY, 'must be the JSON key of a service account')
  if (!isText(email) || !isEmailAddress(email)) throw invalid(KEY, 'has no client_email')
  if (!isText(keyId)) throw invalid(KEY, 'has no private_key_id')
  if (!isText(privateKey) || parseRsaKey(privateKey) === undefined) throw invalid(KEY, 'has no RSA key as private_key')
  return {
    serviceAccountEmail: email,
    clientId: isText(clientId) ? clientId : null,
    keyId,
    secrets: { privateKey },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(KEY, 'is not JSON')
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_CHARS
}

function parseAdmin(adminEmail: string | null | undefined): string | null {
  const address = adminEmail?.trim() || null
  if (address !== null && !isEmailAddress(address)) throw invalid('body.adminEmail', 'is not an email address')
  return address
}
