/** Runs the work until it ends; SIGINT and SIGTERM abort its signal. */
export async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const end = () => controller.abort(new Error('Interrupted.'))
  process.once('SIGINT', end).once('SIGTERM', end)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
  }
}
