import { type Phase, type WaitingRoom, waitingRoom } from '../features/health/index.ts'
import { type Features, openFeatures } from './features.ts'
import { type Infrastructure, openInfrastructure } from './infrastructure.ts'
import type { App } from './lifecycle.ts'
import type { RuntimeContext } from './runtime-context.ts'

/** Of the 25 s that stopping may take. Work still running then is cut off and continues after the next start. */
const DRAIN_MS = 20_000

/**
 * The whole service: opens the infrastructure, then the features, and closes them in reverse order. Until requests can be served, a
 * placeholder server responds to health checks on the port.
 */
export function app(context: RuntimeContext): App {
  let phase: Phase = 'starting'
  let waiting: WaitingRoom | undefined
  let infrastructure: Infrastructure | undefined
  let features: Features | undefined
  let stopping: Promise<void> | undefined

  async function stop(): Promise<void> {
    await waiting?.close()
    await features?.close(DRAIN_MS)
    await infrastructure?.close()
  }

  return {
    async start(aborted) {
      waiting = await openWaitingRoom(context, () => phase)
      infrastructure = await openInfrastructure(context, aborted, () => {
        phase = 'migrating'
      })
      features = openFeatures(context, infrastructure)
      const port = waiting?.port ?? context.config.port
      await waiting?.close()
      return { url: await features.start(port) }
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/** Undefined while another process has the port, most likely the one this start waits for. */
async function openWaitingRoom(
  { config, ids, log }: RuntimeContext,
  phase: () => Phase,
): Promise<WaitingRoom | undefined> {
  try {
    return await waitingRoom({ host: config.host, port: config.port, ids, phase })
  } catch (error) {
    log.warn(`Port ${config.port} is in use; the service tries it again when it is ready.`, {
      operation: 'service.start',
      error,
    })
    return undefined
  }
}
