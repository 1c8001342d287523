/** Ends what would wait forever, before the test's own deadline does: its error says more. It judges no speed. */
const TIMEOUT_MS = 300_000

/** Polls until `check` neither throws nor returns false. Rethrows its last error after `timeoutMs`. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = TIMEOUT_MS, everyMs = 20): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      const value = await check()
      if (value !== false) return value
      throw new Error('the condition stayed false')
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
