const [LF, DASH] = [0x0a, 0x2d]
/** How much one call of `indexOf` searches: a pause follows. */
const WINDOW = 1024 * 1024
const PAUSE_EVERY = 500

/** Where the lines that begin with two dashes begin, from a position on. Undefined for a pause between steps. */
export function* dashedLines(source: Buffer, from: number): Generator<number | undefined> {
  if ((from === 0 || source[from - 1] === LF) && source[from] === DASH && source[from + 1] === DASH) yield from
  let found = 0
  for (let at = from; at < source.length; ) {
    // Two bytes more: the line may begin at the end of the window.
    const next = source.subarray(at, at + WINDOW + 2).indexOf('\n--', 0, 'latin1')
    if (next === -1) {
      at += WINDOW
      yield undefined
      continue
    }
    yield at + next + 1
    at += next + 3
    found += 1
    if (found % PAUSE_EVERY === 0) yield undefined
  }
}
