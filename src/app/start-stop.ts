/** A part of the service that runs in the background. */
export interface Part {
  start?(): void | Promise<void>
  /** Lets running work finish for at most `drainMs`. */
  stop(drainMs: number): void | Promise<void>
  stopsWith: StopStage
}

/** One after the other, in the order of `openFeatures`: each may use those before it. */
export async function startParts(parts: readonly Part[]): Promise<void> {
  for (const part of parts) await part.start?.()
}

/** Parts of one stage stop at the same time, because draining one after the other would take too long. */
const STOP_STAGES = ['work', 'ownership', 'connections'] as const
type StopStage = (typeof STOP_STAGES)[number]

export async function stopParts(parts: readonly Part[], drainMs: number): Promise<void> {
  for (const stage of STOP_STAGES) {
    await Promise.all(parts.filter(({ stopsWith }) => stopsWith === stage).map((part) => part.stop(drainMs)))
  }
}
