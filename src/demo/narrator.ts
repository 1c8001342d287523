/** Tells the story on the terminal: what is being done, that it was done and how long it took. */
export interface Narrator {
  say(text: string): void
  /** Announces a step, runs it, and says how it ended; what the step answers may add a sentence. */
  step<T>(title: string, run: () => Promise<T>, tell?: (result: T) => string[]): Promise<T>
}

export function narrator(out: NodeJS.WriteStream): Narrator {
  const paint = (code: number, text: string) => (out.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text)
  let number = 0
  return {
    say: (text) => void out.write(`${text}\n`),
    async step(title, run, tell) {
      number += 1
      out.write(`${paint(1, `${number}. ${title}`)}\n`)
      const startedMs = performance.now()
      const result = await run()
      const tookMs = Math.round(performance.now() - startedMs)
      for (const line of tell?.(result) ?? []) out.write(`   ${line}\n`)
      out.write(`   ${paint(32, '✓')} ${paint(2, `${tookMs} ms`)}\n\n`)
      return result
    },
  }
}
