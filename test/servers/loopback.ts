import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { lazy } from '../../src/platform/concurrency/lazy.ts'

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

/**
 * Writes `cert.pem` and `key.pem` to the folder, valid for `localhost` and 127.0.0.1: the same for all servers of the process. Returns the PEM
 * of the certificate.
 */
export async function makeCertificate(folder: string): Promise<string> {
  const { certificate, key } = await issued()
  await writeFile(join(folder, 'cert.pem'), certificate)
  await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 })
  return certificate
}

const issued = lazy(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-certificate-'))
  try {
    const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', '/CN=localhost', '-addext', `subjectAltName=DNS:localhost,IP:${HOST}`],
      ...['-keyout', key, '-out', certificate],
    ])
    return { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
