import { type Phase, type WaitingRoom, waitingRoom } from './features/health/index.ts'
import { type Infrastructure, openInfrastructure } from './infrastructure.ts'
import type { App, Ground } from './lifecycle.ts'
import { openRooms, type Rooms } from './rooms.ts'

/** Of the 25 s that stopping may take: what is still running then is cut off, and goes on after the next start. */
const DRAIN_MS = 20_000

/**
 * The whole service, wired: what it stands on (`infrastructure.ts`), then what it does (`rooms.ts`), closed in the reverse order. Until
 * it can answer, a waiting room answers in its place.
 */
export function app(ground: Ground): App {
  let phase: Phase = 'starting'
  let waiting: WaitingRoom | undefined
  let infrastructure: Infrastructure | undefined
  let rooms: Rooms | undefined
  let stopping: Promise<void> | undefined

  async function stop(): Promise<void> {
    await waiting?.close()
    await rooms?.close(DRAIN_MS)
    await infrastructure?.close()
  }

  return {
    async start(aborted) {
      waiting = await openWaitingRoom(ground, () => phase)
      infrastructure = await openInfrastructure(ground, aborted, () => {
        phase = 'migrating'
      })
      rooms = openRooms(ground, infrastructure)
      const port = waiting?.port ?? ground.config.port
      await waiting?.close()
      return { url: await rooms.start(port) }
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/** Undefined while another process still has the port: the one that this start waits for, most likely. */
async function openWaitingRoom({ config, ids, log }: Ground, phase: () => Phase): Promise<WaitingRoom | undefined> {
  try {
    return await waitingRoom({ host: config.host, port: config.port, ids, phase })
  } catch (error) {
    log.warn(`Port ${config.port} is in use; it is tried again when the service is ready.`, {
      operation: 'service.start',
      error,
    })
    return undefined
  }
}
