/** Ends what would wait forever, before the test's own deadline does: its error says more. It judges no speed. */
const TIMEOUT_MS = 300_000

/** Pauses grow up to this limit, because each check costs queries or processes. */
const LONGEST_PAUSE_MS = 100

/**
 * Polls until `check` neither throws nor returns false: every `everyMs`, then after a tenth of the time that has passed. Rethrows its last
 * error after `timeoutMs`.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = TIMEOUT_MS, everyMs = 20): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    try {
      const value = await check()
      if (value !== false) return value
      throw new Error('the condition stayed false')
    } catch (error) {
      if (performance.now() - startedAt > timeoutMs) throw error
    }
    const pauseMs = Math.min((performance.now() - startedAt) / 10, LONGEST_PAUSE_MS)
    await new Promise((resolve) => setTimeout(resolve, Math.max(pauseMs, everyMs)))
  }
}
