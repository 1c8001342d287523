import type { TlsReport } from '../../platform/net/index.ts'
import { type Finding, failed, ok, warning } from './check.ts'

const DAY_MS = 86_400_000
/** Certificates that are renewed automatically have at least two weeks left. */
const SOON_DAYS = 14

const PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'is of an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is of an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'comes without its intermediate certificates',
}

/** Judges the certificate of a host. */
export function judgeCertificate(host: string, { problem, expiresAtMs }: TlsReport, nowMs: number): Finding {
  if (problem !== undefined) {
    return failed(
      `The certificate of ${host} ${PROBLEMS[problem] ?? 'is not valid'} (${problem}).`,
      `Install a valid certificate for ${host}, with its intermediate certificates. For a private authority, set NODE_EXTRA_CA_CERTS.`,
    )
  }
  const days = Math.floor((expiresAtMs - nowMs) / DAY_MS)
  const message = `The certificate of ${host} is valid for ${days} more ${days === 1 ? 'day' : 'days'}.`
  return days >= SOON_DAYS ? ok(message) : warning(message, 'Renew it, and check its automatic renewal.')
}
