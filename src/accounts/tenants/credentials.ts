import { invalid } from '../../platform/errors/app-error.ts'
import type { TenantCredentials, TenantProviderName } from '../../providers/contract/index.ts'
import type { CreateConnectionBody, UpdateConnectionBody } from './api.ts'
import { parseGoogle, renewGoogle } from './google-credentials.ts'
import { parseMicrosoft, renewMicrosoft } from './microsoft-credentials.ts'

/** The members that only one provider has. */
const FIELDS = {
  microsoft: ['tenantId', 'clientId', 'clientSecret', 'privateKey', 'certificate', 'thumbprint'],
  gmail: ['serviceAccountKey', 'adminEmail'],
} as const satisfies Readonly<Record<TenantProviderName, readonly (keyof CreateConnectionBody)[]>>

/** The credentials of a new connection. Throws validation_failed. */
export function parseCredentials(body: CreateConnectionBody): TenantCredentials {
  refuseOthers(body.provider, body)
  return body.provider === 'gmail' ? parseGoogle(body) : parseMicrosoft(body)
}

/** The credentials with the new secret of the body. Undefined when it has none. Throws validation_failed. */
export function renewCredentials(
  current: TenantCredentials,
  body: UpdateConnectionBody,
): TenantCredentials | undefined {
  refuseOthers(current.provider, body)
  return current.provider === 'gmail' ? renewGoogle(current, body) : renewMicrosoft(current, body)
}

function refuseOthers(provider: TenantProviderName, body: Partial<CreateConnectionBody>): void {
  for (const field of FIELDS[provider === 'gmail' ? 'microsoft' : 'gmail']) {
    if (body[field] !== undefined) throw invalid(`body.${field}`, `is not used by connections of ${provider}`)
  }
}
