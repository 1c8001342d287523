import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const HOST = '127.0.0.1'

/** Rejects when nothing listens on the port. */
export function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, HOST)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })
}

/** Writes `cert.pem` and `key.pem` to the folder, valid for `localhost` and 127.0.0.1. Returns the PEM of the certificate. */
export async function makeCertificate(folder: string): Promise<string> {
  const certificate = join(folder, 'cert.pem')
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-addext',
    `subjectAltName=DNS:localhost,IP:${HOST}`,
    '-keyout',
    join(folder, 'key.pem'),
    '-out',
    certificate,
  ])
  return readFile(certificate, 'utf8')
}
