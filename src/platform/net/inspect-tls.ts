import { isIP } from 'node:net'
import { connect } from 'node:tls'

export interface TlsTarget {
  host: string
  port: number
  /** The address to connect to. Default: what the host resolves to. */
  address?: string
  timeoutMs: number
  /** Certificates to trust instead of the system's. For tests. */
  ca?: string | undefined
}

/** The certificate of a server. */
export interface TlsReport {
  /** The code of Node's TLS, such as CERT_HAS_EXPIRED; undefined when the certificate is valid for the host. */
  problem: string | undefined
  expiresAtMs: number
}

/** Makes a TLS handshake, sends nothing, and closes. Rejects when there is no connection or no TLS. */
export function inspectTls({ host, port, address, timeoutMs, ca }: TlsTarget): Promise<TlsReport> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: address ?? host,
      port,
      ...(isIP(host) === 0 && { servername: host }),
      // The report says what is wrong with the certificate.
      rejectUnauthorized: false,
      ...(ca !== undefined && { ca }),
    })
    const fail = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(timeoutMs, () => fail(new Error('no response')))
    socket.once('error', fail)
    socket.once('secureConnect', () => {
      const { authorized, authorizationError } = socket
      const certificate = socket.getPeerCertificate()
      socket.destroy()
      resolve({
        problem: authorized ? undefined : errorName(authorizationError),
        expiresAtMs: Date.parse(certificate.valid_to ?? ''),
      })
    })
  })
}

/** Node declares an error, but sets its code. */
function errorName(error: unknown): string {
  if (error instanceof Error) return 'code' in error ? String(error.code) : error.message
  return String(error ?? 'unknown')
}
