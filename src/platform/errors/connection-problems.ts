/**
 * Why a mail or calendar server that responds cannot be used, as far as the server or its certificate shows it. Each is the `code` of a
 * detail. `text` continues "The server".
 */
export const CONNECTION_PROBLEMS = {
  certificate_self_signed: {
    text: 'has a self-signed certificate',
    advice: 'Install a certificate of a public authority, or set allowSelfSigned for a server of your own.',
  },
  certificate_untrusted: {
    text: 'has a certificate of an unknown authority, or sends it without its intermediate certificates',
    advice: 'Install the complete chain of a certificate of a public authority.',
  },
  certificate_expired: {
    text: 'has a certificate that has expired',
    advice: 'Ask the operator of the server to renew it.',
  },
  certificate_not_yet_valid: {
    text: 'has a certificate that is not valid yet',
    advice: 'Check the clocks of the server and of this service.',
  },
  certificate_wrong_host: {
    text: 'has a certificate for another host name',
    advice: 'Use a host name that the certificate contains.',
  },
  starttls_not_offered: {
    text: 'does not offer STARTTLS on this port',
    advice: 'Check the port, and whether it uses TLS from the start.',
  },
  encryption_required: {
    text: 'accepts no sign-in without encryption',
    advice: 'Use a port with TLS or STARTTLS.',
  },
  no_password_login: {
    text: 'offers no sign-in with a password',
    advice: 'Turn on PLAIN, LOGIN or SCRAM at the server.',
  },
  no_oauth_login: {
    text: 'offers no sign-in with an OAuth access token',
    advice: 'Turn on OAUTHBEARER or XOAUTH2 at the server, and allow IMAP and SMTP for the mailbox.',
  },
} as const satisfies Record<string, { text: string; advice: string }>

export type ConnectionProblem = keyof typeof CONNECTION_PROBLEMS

/** By the codes of Node's TLS. */
const BY_CODE: Readonly<Record<string, ConnectionProblem>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate_self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate_untrusted',
  CERT_UNTRUSTED: 'certificate_untrusted',
  INVALID_CA: 'certificate_untrusted',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_not_yet_valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_wrong_host',
  HOSTNAME_MISMATCH: 'certificate_wrong_host',
}

/** The problem of a certificate that an error code of Node's TLS names. Undefined for other codes. */
export function certificateProblem(code: string): ConnectionProblem | undefined {
  return Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined
}
