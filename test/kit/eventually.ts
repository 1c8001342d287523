/** Polls until `check` neither throws nor returns false. Rethrows its last error after `timeoutMs`, which should be ten times the usual duration. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 60_000, everyMs = 20): Promise<T> {
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
