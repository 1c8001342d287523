import { X509Certificate } from 'node:crypto'
import { invalid } from '../../platform/errors/app-error.ts'
import type { TenantCredentialsOf } from '../../providers/contract/index.ts'
import { parseRsaKey } from '../../providers/shared/oauth/index.ts'
import type { CreateConnectionBody, UpdateConnectionBody } from './api.ts'

type Credentials = TenantCredentialsOf<'microsoft'>
type SecretFields = Pick<UpdateConnectionBody, 'clientSecret' | 'privateKey' | 'certificate' | 'thumbprint'>

/** Tenants that stand for several: an application opens mailboxes of one. */
const SHARED_TENANTS: ReadonlySet<string> = new Set(['common', 'organizations', 'consumers'])
const SHA1_HEX = /^[0-9a-f]{40}$/
const SHA256_HEX = /^[0-9a-f]{64}$/

/** The credentials of a new connection. Throws validation_failed. */
export function parseMicrosoft(
  fields: SecretFields & Pick<CreateConnectionBody, 'tenantId' | 'clientId'>,
): Credentials {
  const { tenantId, clientId, ...secretFields } = fields
  if (tenantId === undefined) throw invalid('body.tenantId', 'is required')
  if (SHARED_TENANTS.has(tenantId.toLowerCase())) {
    throw invalid('body.tenantId', 'must be the id or a domain of one tenant')
  }
  if (clientId === undefined) throw invalid('body.clientId', 'is required')
  const secret = parseSecret(secretFields)
  if (secret === undefined) throw invalid('body.clientSecret', 'is required, or privateKey with certificate')
  const { thumbprint, secrets } = secret
  return { provider: 'microsoft', settings: { tenantId, clientId, thumbprint }, secrets }
}

/** The credentials with the new secret of the body. Undefined when it has none. Throws validation_failed. */
export function renewMicrosoft({ settings }: Credentials, fields: SecretFields): Credentials | undefined {
  const secret = parseSecret(fields)
  if (secret === undefined) return undefined
  const { thumbprint, secrets } = secret
  return { provider: 'microsoft', settings: { ...settings, thumbprint }, secrets }
}

/** The secret of the body, and the thumbprint that belongs to it. Undefined when the body has no secret. Throws validation_failed. */
function parseSecret(fields: SecretFields): { thumbprint: string | null; secrets: Credentials['secrets'] } | undefined {
  const { clientSecret, privateKey, certificate, thumbprint } = fields
  if (clientSecret !== undefined) {
    for (const [field, value] of Object.entries({ privateKey, certificate, thumbprint })) {
      if (value !== undefined) throw invalid(`body.${field}`, 'is not used with clientSecret; pass one of both')
    }
    return { thumbprint: null, secrets: { clientSecret } }
  }
  if (privateKey === undefined) {
    if (certificate !== undefined || thumbprint !== undefined) throw invalid('body.privateKey', 'is required')
    return undefined
  }
  const key = parseRsaKey(privateKey)
  if (key === undefined) throw invalid('body.privateKey', 'must be an RSA key in PEM form, without a passphrase')
  if (certificate === undefined) return { thumbprint: parseThumbprint(thumbprint), secrets: { privateKey } }
  const parsed = parseCertificate(certificate)
  if (parsed === undefined) throw invalid('body.certificate', 'must be a certificate in PEM form')
  if (!parsed.checkPrivateKey(key)) throw invalid('body.certificate', 'does not belong to the private key')
  return { thumbprint: hexadecimal(parsed.fingerprint256), secrets: { privateKey } }
}

function parseThumbprint(thumbprint: string | undefined): string {
  if (thumbprint === undefined) throw invalid('body.certificate', 'is required with privateKey, or thumbprint')
  const hex = hexadecimal(thumbprint)
  if (SHA1_HEX.test(hex) || SHA256_HEX.test(hex)) return hex
  throw invalid('body.thumbprint', 'must be the SHA-1 or SHA-256 of the certificate, in hexadecimal')
}

function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

/** Without the colons and spaces that tools print. */
function hexadecimal(text: string): string {
  return text.replaceAll(/[:\s]/g, '').toLowerCase()
}
