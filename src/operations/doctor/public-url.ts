import { isIP } from 'node:net'
import { describeError, errorCode } from '../../platform/errors/describe-error.ts'
import { replaceFailure, rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { inspectTls, type Resolve } from '../../platform/net/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { judgeCertificate } from './certificate.ts'
import { type Check, type Finding, failed, ok, Skip, warning } from './check.ts'
import { INSTANCE_PATH } from './routes.ts'

interface PublicUrlDeps {
  publicUrl: string
  resolve: Resolve
  clock: Clock
  /** The ids of the instances that run now. Rejects when the database cannot be read. */
  runningInstances(): Promise<readonly string[]>
  /** Certificates to trust instead of the system's. For tests. */
  ca?: string | undefined
}

const TIMEOUT_MS = 8000
const MAX_BYTES = 64 * 1024

/** DNS and TLS of PUBLIC_URL, and whether it leads to this installation. */
export function publicUrlChecks(deps: PublicUrlDeps): Check[] {
  const url = new URL(deps.publicUrl)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return [
    { name: 'dns', run: () => resolves(deps, host) },
    { name: 'tls', run: () => certificate(deps, url, host) },
    { name: 'public url', run: () => leadsHere(deps) },
  ]
}

async function resolves({ resolve }: PublicUrlDeps, host: string): Promise<Finding> {
  if (isIP(host) !== 0) return ok(`PUBLIC_URL has the address ${host} and needs no DNS.`)
  try {
    const { addresses } = await resolve(host)
    return ok(`${host} resolves to ${addresses.slice(0, 4).join(', ')}.`)
  } catch (error) {
    rethrowProgrammingError(error)
    return failed(
      `${host} does not resolve: ${describeError(error)}`,
      'Create a DNS record for the host of PUBLIC_URL, or correct PUBLIC_URL.',
    )
  }
}

async function certificate({ clock, ca }: PublicUrlDeps, url: URL, host: string): Promise<Finding> {
  if (url.protocol !== 'https:') throw new Skip('PUBLIC_URL begins with http://.')
  const port = Number(url.port) || 443
  try {
    return judgeCertificate(host, await inspectTls({ host, port, ca, timeoutMs: TIMEOUT_MS }), clock.now())
  } catch (error) {
    rethrowProgrammingError(error)
    if (isUnresolved(error)) throw new Skip(`${host} does not resolve.`)
    return failed(
      `There is no TLS at ${host}, port ${port}: ${describeError(error)}`,
      'Check that the proxy in front of the service runs and accepts TLS there.',
    )
  }
}

/** The instance that responds at the public URL must be one of those in the database. */
async function leadsHere({ publicUrl, runningInstances }: PublicUrlDeps): Promise<Finding> {
  const running = await runningInstances().catch(replaceFailure(undefined))
  if (running?.length === 0) throw new Skip('The service does not run. Start it: posthorn start')
  const response = await fetch(`${publicUrl}${INSTANCE_PATH}`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { accept: 'application/json' },
  }).catch((error: unknown) => error)
  if (!(response instanceof Response)) {
    return failed(
      `Cannot reach ${publicUrl}: ${isTimeout(response) ? `no response in ${TIMEOUT_MS / 1000} s` : describeError(response)}`,
      'Check PUBLIC_URL, the proxy and the firewall. Some networks do not let a machine reach its own public address.',
    )
  }
  const instance = await instanceIn(response)
  if (instance === undefined) {
    return failed(
      `${publicUrl} responds (${response.status}), but it is not this service.`,
      'Make the proxy send the requests for PUBLIC_URL, with the path that PUBLIC_URL has removed, to HOST and PORT of the service.',
    )
  }
  if (running === undefined) return ok(`A Posthorn service responds at ${publicUrl}.`)
  if (running.includes(instance)) return ok(`${publicUrl} leads to this service.`)
  return warning(
    `${publicUrl} leads to another Posthorn service (${instance}).`,
    'Check that PUBLIC_URL and the database are those of the same installation.',
  )
}

async function instanceIn(response: Response): Promise<string | undefined> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length > MAX_BYTES) return undefined
    }
    const body: unknown = JSON.parse(text)
    const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined
    const instance = typeof data === 'object' && data !== null && 'instance' in data ? data.instance : undefined
    return typeof instance === 'string' && /^ins_[a-z0-9]{1,40}$/.test(instance) ? instance : undefined
  } catch {
    return undefined
  }
}

const isUnresolved = (error: unknown) => ['ENOTFOUND', 'EAI_AGAIN'].includes(errorCode(error))

const isTimeout = (error: unknown) => error instanceof Error && error.name === 'TimeoutError'
