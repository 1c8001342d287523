import { connect } from 'node:net'
import { describeError } from '../../platform/errors/describe-error.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { type AddressGuard, type CheckedTarget, GuardError, inspectTls } from '../../platform/net/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { judgeCertificate } from './certificate.ts'
import { type Check, type CheckResult, type Finding, failed, ok, skipped } from './check.ts'

interface WebhookTarget {
  id: string
  url: string
}

interface WebhookChecksDeps {
  /** Active endpoints. */
  targets(): Promise<readonly WebhookTarget[]>
  guard: AddressGuard
  clock: Clock
  ca?: string | undefined
}

const NAME = 'webhooks'
/** Each takes at most this time, and two rounds fit into the time of a check. */
const TIMEOUT_MS = 4000
const AT_ONCE = 25
const MAX_TARGETS = 50

/** Whether the hosts of active endpoints accept connections. No request is sent. */
export function webhooksCheck(deps: WebhookChecksDeps): Check {
  return { name: NAME, run: () => check(deps) }
}

async function check(deps: WebhookChecksDeps): Promise<readonly CheckResult[]> {
  const all = await deps.targets()
  if (all.length === 0) return [{ name: NAME, ...skipped('There are no active endpoints.') }]
  const targets = all.slice(0, MAX_TARGETS)
  const results: CheckResult[] = []
  for (let at = 0; at < targets.length; at += AT_ONCE) {
    const some = targets.slice(at, at + AT_ONCE)
    const findings = await Promise.all(some.map((target) => reach(deps, new URL(target.url))))
    results.push(...findings.map((finding, index) => ({ name: `webhook ${some[index]?.id ?? ''}`, ...finding })))
  }
  const problems = results.filter(({ status }) => status !== 'ok')
  const reached = results.length - problems.filter(({ status }) => status === 'failed').length
  const rest = all.length > targets.length ? ` ${all.length - targets.length} more were not checked.` : ''
  return [
    ...problems,
    { name: NAME, ...ok(`${reached} of ${results.length} active endpoints accept connections.${rest}`) },
  ]
}

async function reach({ guard, clock, ca }: WebhookChecksDeps, url: URL): Promise<Finding> {
  const isTls = url.protocol === 'https:'
  const port = Number(url.port) || (isTls ? 443 : 80)
  try {
    const target = await guard.check({ host: url.hostname, port })
    if (isTls) {
      const { host, address } = target
      return judgeCertificate(host, await inspectTls({ host, port, address, ca, timeoutMs: TIMEOUT_MS }), clock.now())
    }
    if (!guard.allowsPlain(target)) {
      return failed(`${target.host} requires https, because PRIVATE_TARGETS does not include it.`, 'Use an https URL.')
    }
    await connected(target)
    return ok(`${target.host} accepts connections.`)
  } catch (error) {
    if (error instanceof GuardError && error.reason === 'refused') {
      return failed(`${url.host}: ${error.message}`, `Add ${url.hostname} to PRIVATE_TARGETS if it is yours.`)
    }
    rethrowProgrammingError(error)
    return failed(
      `Cannot connect to ${url.host}: ${describeError(error)}`,
      'Check that the application runs there and that the host resolves, or change the URL of the endpoint.',
    )
  }
}

function connected({ address, port }: CheckedTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port })
    const end = (error?: Error) => {
      socket.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    socket.setTimeout(TIMEOUT_MS, () => end(new Error('no response')))
    socket.once('error', end)
    socket.once('connect', () => end())
  })
}
