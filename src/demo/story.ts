/** The steps of the demo, which the terminal prints and the application's page shows. */
type StepId = 'start' | 'endpoint' | 'connect' | 'list' | 'receive' | 'offer' | 'book'

export interface Step {
  id: StepId
  title: string
  status: 'waiting' | 'running' | 'done' | 'failed'
  /** The results of the step, once it is done. */
  lines: readonly string[]
  /** The request of the step, to repeat in a shell. Null while ids in it are unknown. */
  curl: string | null
  /** How long it took. Null where that is how long a person took. */
  tookMs: number | null
}

interface StepResult {
  lines: string[]
  curl?: string
  tookMs?: number | null
}

export interface Story {
  readonly steps: readonly Step[]
  /**
   * Runs a step and records what `describe` makes of its result: with `tookMs`, instead of the duration of `run`. A failure is recorded
   * and thrown.
   */
  step<T>(id: StepId, run: () => Promise<T>, describe: (result: T) => StepResult): Promise<T>
  /** Makes the request of a step known before it is done. */
  showCurl(id: StepId, curl: string): void
  /** Calls the listener after each change of a step. */
  onChange(listener: (step: Step) => void): void
}

/** The titles of the steps that this run has, in order. */
export function story(titles: Readonly<Partial<Record<StepId, string>>>): Story {
  const steps = (Object.entries(titles) as [StepId, string][]).map(
    ([id, title]): Step => ({ id, title, status: 'waiting', lines: [], curl: null, tookMs: null }),
  )
  const listeners = new Set<(step: Step) => void>()
  function change(id: StepId, changes: Partial<Step>): void {
    for (const step of steps) {
      if (step.id !== id) continue
      Object.assign(step, changes)
      for (const listener of listeners) listener(step)
    }
  }
  return {
    steps,
    async step(id, run, describe) {
      const startedMs = performance.now()
      change(id, { status: 'running' })
      try {
        const result = await run()
        change(id, { status: 'done', tookMs: Math.round(performance.now() - startedMs), ...describe(result) })
        return result
      } catch (error) {
        change(id, { status: 'failed', lines: [error instanceof Error ? error.message : String(error)] })
        throw error
      }
    },
    showCurl: (id, curl) => change(id, { curl }),
    onChange: (listener) => void listeners.add(listener),
  }
}
