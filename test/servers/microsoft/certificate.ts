import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A certificate of an application, and its key, in PEM form. */
export interface ApplicationCertificate {
  certificate: string
  privateKey: string
}

export async function makeCertificate(): Promise<ApplicationCertificate> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-certificate-'))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const options = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=Acme']
  try {
    await promisify(execFile)('openssl', ['req', ...options, '-keyout', key, '-out', certificate])
    return { certificate: await readFile(certificate, 'utf8'), privateKey: await readFile(key, 'utf8') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
