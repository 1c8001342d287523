import { X509Certificate } from 'node:crypto'
import { invalid } from '../../platform/errors/app-error.ts'
import type { TenantCredentials } from '../../providers/contract/index.ts'
import { parseRsaKey } from '../../providers/shared/oauth/index.ts'
import type { UpdateConnectionBody } from './api.ts'

type SecretFields = Pick<UpdateConnectionBody, 'clientSecret' | 'privateKey' | 'certificate' | 'thumbprint'>

/** Tenants that stand for several: an application opens mailboxes of one. */
const SHARED_TENANTS: ReadonlySet<string> = new Set(['common', 'organizations', 'consumers'])
const SHA1_HEX = /^[0-9a-f]{40}$/
const SHA256_HEX = /^[0-9a-f]{64}$/

export function requireOwnTenant(tenantId: string): string {
  if (SHARED_TENANTS.has(tenantId.toLowerCase())) {
    throw invalid('body.tenantId', 'must be the id or a domain of one tenant')
  }
  return tenantId
}

/** The secret of the body, and the thumbprint that belongs to it. Undefined when the body has no secret. Throws validation_failed. */
export function parseSecret(
  fields: SecretFields,
): { thumbprint: string | null; secrets: TenantCredentials['secrets'] } | undefined {
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
