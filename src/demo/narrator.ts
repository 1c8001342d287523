/** Prints each step of the demo and how long it took. */
export interface Narrator {
  say(text: string): void
  /** Prints the title, runs the step, and prints the lines that `describe` returns. */
  step<T>(title: string, run: () => Promise<T>, describe?: (result: T) => string[]): Promise<T>
}

export function narrator(out: NodeJS.WriteStream): Narrator {
  const paint = (code: number, text: string) => (out.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text)
  let number = 0
  return {
    say: (text) => void out.write(`${text}\n`),
    async step(title, run, describe) {
      number += 1
      out.write(`${paint(1, `${number}. ${title}`)}\n`)
      const startedMs = performance.now()
      const result = await run()
      const tookMs = Math.round(performance.now() - startedMs)
      for (const line of describe?.(result) ?? []) out.write(`   ${line}\n`)
      out.write(`   ${paint(32, '✓')} ${paint(2, `${tookMs} ms`)}\n\n`)
      return result
    },
  }
}
