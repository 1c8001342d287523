import { ProviderError, type TenantCredential } from '../contract/index.ts'
import type { TokenError } from '../shared/oauth/index.ts'

interface Refusal {
  why: string
  credential?: TenantCredential
}

const wrongTenant: Refusal = {
  why: 'there is no such tenant. Check the tenant id (Directory ID), and whether the tenant is in this cloud',
  credential: 'tenantId',
}
const disabled: Refusal = { why: 'the application is disabled in this tenant. Enable it under Enterprise applications' }
const conditionalAccess: Refusal = {
  why: 'a Conditional Access policy for workload identities blocks this service. Exclude the application, or allow its address',
}
const wrongCertificate: Refusal = {
  why: 'Microsoft does not accept the certificate. Upload it to the application (Certificates & secrets), and check that it belongs to the private key and has not expired',
  credential: 'certificate',
}

/** Entra's error numbers for requests of an application: https://learn.microsoft.com/entra/identity-platform/reference-error-codes */
const REFUSALS: Readonly<Record<number, Refusal>> = {
  7000215: {
    why: 'the client secret is wrong. Enter its value, not its id',
    credential: 'clientSecret',
  },
  7000222: {
    why: 'the client secret has expired. Create a new one (Certificates & secrets)',
    credential: 'clientSecret',
  },
  7000216: { why: 'the application needs a client secret or a certificate', credential: 'clientSecret' },
  700016: {
    why: 'the tenant does not know the application. Check the client id and the tenant id, and let an administrator of the tenant consent to it',
    credential: 'clientId',
  },
  7000229: {
    why: 'the application has no service principal in this tenant. Let an administrator of the tenant consent to it',
    credential: 'clientId',
  },
  7000112: disabled,
  50105: { why: 'the application requires an assignment that it does not have in this tenant' },
  90002: wrongTenant,
  900023: wrongTenant,
  900021: wrongTenant,
  90013: { why: 'a value of the connection is malformed. Check the tenant id and the client id' },
  50034: { why: 'the account does not exist in this tenant. Check the tenant id', credential: 'tenantId' },
  500011: {
    why: 'Microsoft Graph is not enabled in this tenant. Let an administrator of the tenant consent to the application',
  },
  700027: wrongCertificate,
  700023: wrongCertificate,
  7000214: wrongCertificate,
  700024: { why: 'the signed request is outside its time. Check the clock of this server' },
  53003: conditionalAccess,
  530034: conditionalAccess,
  530035: conditionalAccess,
}

/** Errors that are about the credentials, whatever their number. */
const CREDENTIAL_ERRORS: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client', 'invalid_grant'])

/** Says why Microsoft gives the application no token. Undefined when the response does not concern its credentials. */
export function tenantRefusal({ error, aadsts, detail }: TokenError): ProviderError | undefined {
  const known = aadsts.map((each) => REFUSALS[each]).find((refusal) => refusal !== undefined)
  if (known === undefined && !CREDENTIAL_ERRORS.has(error)) return undefined
  const { why, credential }: Refusal = known ?? { why: 'it refuses the credentials' }
  return new ProviderError('auth_expired', `Microsoft gives the application no token: ${why} (${detail})`, {
    credential,
    isOfApplication: true,
  })
}
