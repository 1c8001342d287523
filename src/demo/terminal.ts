import type { Story } from './story.ts'

/** Writes lines to the terminal. */
export interface Terminal {
  say(text: string): void
}

/** Prints each step of the story when it begins, and its result and duration when it is done. */
export function terminal(out: NodeJS.WriteStream, story: Story): Terminal {
  const paint = (code: number, text: string) => (out.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text)
  const say = (text: string) => void out.write(`${text}\n`)
  const printed = new Map<string, string>()
  story.onChange((step) => {
    const { id, title, status, lines, tookMs } = step
    if (printed.get(id) === status) return
    printed.set(id, status)
    if (status === 'running') say(paint(1, `${story.steps.indexOf(step) + 1}. ${title}`))
    if (status !== 'done' || tookMs === null) return
    for (const line of lines) say(`   ${line}`)
    const took = tookMs < 1000 ? `${tookMs} ms` : `${(tookMs / 1000).toFixed(1)} s`
    say(`   ${paint(32, '✓')} ${paint(2, took)}\n`)
  })
  return { say }
}
