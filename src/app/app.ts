import type { AddressInfo } from 'node:net'
import type { Config } from '../config/index.ts'
import { type Phase, type StartupFacts, type StartupServer, startupServer } from '../operations/health/index.ts'
import { licence } from '../operations/licence/index.ts'
import { errorCode } from '../platform/errors/describe-error.ts'
import { OperatorError } from '../platform/errors/operator-error.ts'
import { closeServer, type App as HttpServer } from '../platform/http/index.ts'
import type { Clock } from '../platform/time/clock.ts'
import { openFeatures } from './features.ts'
import { type Infrastructure, openInfrastructure } from './infrastructure.ts'
import type { App } from './lifecycle.ts'
import { openFilesWatch } from './open-files.ts'
import { httpServer } from './routes.ts'
import type { RuntimeContext } from './runtime-context.ts'
import { reportSignIn } from './sign-in.ts'
import { type Part, startParts, stopParts } from './start-stop.ts'
import { warmUp, warmUpSteps } from './warm-up.ts'

/** Part of the 25 s for stopping. Work that still runs then is aborted and continues after the next start. */
const DRAIN_MS = 20_000

/**
 * The whole service: opens the infrastructure, then the features, and starts their parts; stops the parts by stage, then
 * closes the infrastructure. Until it accepts requests, a startup server responds to health checks on its port.
 */
export function app(context: RuntimeContext): App {
  const { config, log } = context
  let phase: Phase = 'starting'
  let startup: StartupServer | undefined
  let infrastructure: Infrastructure | undefined
  let parts: readonly Part[] = []
  let stopping: Promise<void> | undefined

  async function start(aborted: AbortSignal): Promise<{ url: string }> {
    startup = await openStartupServer(context, () => phase)
    infrastructure = await openInfrastructure(context, aborted, () => {
      phase = 'migrating'
    })
    const features = openFeatures(context, infrastructure)
    const { puller, streams } = features
    const server = httpServer(context, infrastructure, features, () => phase)
    const port = startup?.port ?? config.port
    const http: Part = {
      async start() {
        // Until here, so that health checks are answered while the parts before this one start.
        await startup?.close()
        await server.listen({ host: config.host, port }).catch((error) => {
          throw listenError(config, error)
        })
        phase = 'ready'
      },
      async stop(drainMs) {
        await streams.close()
        await closeServer(server, drainMs)
      },
      stopsWith: 'work',
    }
    const files = openFilesWatch({ log, clock: context.clock })
    const openFiles: Part = { start: files.start, stop: files.stop, stopsWith: 'connections' }
    const warming = warmUp(() => warmUpSteps(features.mailboxes.startImap, server.warmUps), log)
    const pulling: Part = { start: puller.start, stop: puller.stop, stopsWith: 'work' }
    parts = [openFiles, ...features.parts, http, pulling, warming]
    phase = 'starting'
    await startParts(parts)
    reportSignIn(config, features.logins, log)
    const licenceProblem = features.licence.problem()
    if (licenceProblem !== undefined) log.warn(licenceProblem, { operation: 'service.start' })
    return { url: formatAddress(server) }
  }

  async function stop(): Promise<void> {
    await startup?.close()
    phase = 'draining'
    await stopParts(parts, DRAIN_MS)
    await infrastructure?.close()
  }

  return {
    start,
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/** Names the setting that the operator can change. */
function listenError({ host, port }: Config, error: unknown): OperatorError {
  const code = errorCode(error)
  const texts: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use by another process.\nStop it, or set PORT to another port.`,
    EACCES: `This user must not listen on port ${port}.\nSet PORT to a port above 1023.`,
    EADDRNOTAVAIL: `This machine does not have the address ${host}.\nSet HOST to one of its addresses, or to 0.0.0.0 for all.`,
    ENOTFOUND: `Cannot resolve the host ${host}.\nSet HOST to an address of this machine, or to 0.0.0.0 for all.`,
  }
  return new OperatorError(texts[code] ?? `Cannot listen on ${host}, port ${port} (${code}).\nCheck HOST and PORT.`, {
    cause: error,
  })
}

function formatAddress(server: HttpServer): string {
  const { address, family, port } = server.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function startupFacts(config: Config, clock: Clock): StartupFacts {
  const isRedis = config.redisUrl !== undefined
  return {
    cache: isRedis ? 'redis' : 'memory',
    queue: isRedis ? 'redis' : 'database',
    pubsub: isRedis ? 'redis' : config.databaseUrl === undefined ? 'memory' : 'postgres',
    licence: licence({ key: config.licenceKey, clock, issuer: config.licencePublicKey }),
    isGmailPushConfigured: config.pubsubSubscriptionName !== undefined,
  }
}

/** Undefined when it cannot listen: another process uses the port, most likely the instance that this one replaces. */
async function openStartupServer(
  { config, clock, ids, log }: RuntimeContext,
  phase: () => Phase,
): Promise<StartupServer | undefined> {
  try {
    return await startupServer({
      host: config.host,
      port: config.port,
      publicUrl: config.publicUrl,
      ids,
      phase,
      facts: startupFacts(config, clock),
    })
  } catch (error) {
    const [reason = ''] = listenError(config, error).message.split('\n')
    log.warn(`${reason} The service tries again when it is ready to accept requests.`, { operation: 'service.start' })
    return undefined
  }
}
