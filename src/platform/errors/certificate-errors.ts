/** Whether a code of Node's TLS says that the certificate, or the security of the connection, is in doubt, and not that the peer speaks no TLS. */
export const isCertificateError = (code: string): boolean =>
  /^(ERR_TLS|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA)/.test(code)
