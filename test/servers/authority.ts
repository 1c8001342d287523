import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { HOST } from './loopback.ts'

const openssl = (...args: string[]) => promisify(execFile)('openssl', args)
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** A certificate authority that no computer knows. */
export interface Authority {
  /** PEM. */
  readonly certificate: string
  /** The file with the PEM, for NODE_EXTRA_CA_CERTS. */
  readonly file: string
  /** Writes `cert.pem` and `key.pem` to the folder, by default valid for `localhost` and 127.0.0.1. Returns the PEM of the certificate. */
  issue(folder: string, options?: { names?: string; isExpired?: boolean }): Promise<string>
  remove(): Promise<void>
}

export async function makeAuthority(): Promise<Authority> {
  const home = await mkdtemp(join(tmpdir(), 'posthorn-authority-'))
  const [key, certificate] = [join(home, 'key.pem'), join(home, 'cert.pem')]
  await openssl('req', '-x509', ...NEW_KEY, '-days', '2', '-subj', '/CN=Authority', '-keyout', key, '-out', certificate)
  return {
    certificate: await readFile(certificate, 'utf8'),
    file: certificate,
    async issue(folder, { names = `DNS:localhost,IP:${HOST}`, isExpired = false } = {}) {
      const [request, issued] = [join(folder, 'request.pem'), join(folder, 'cert.pem')]
      const extension = ['-addext', `subjectAltName=${names}`]
      const subject = ['-subj', '/CN=server', ...extension, '-keyout', join(folder, 'key.pem'), '-out', request]
      await openssl('req', ...NEW_KEY, ...subject)
      const signing = ['-CA', certificate, '-CAkey', key, '-CAcreateserial', '-copy_extensions', 'copy']
      await openssl('x509', '-req', '-in', request, ...signing, '-days', isExpired ? '-1' : '2', '-out', issued)
      return readFile(issued, 'utf8')
    },
    remove: () => rm(home, { recursive: true, force: true }),
  }
}
