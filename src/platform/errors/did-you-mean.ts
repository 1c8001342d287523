const MAX_DISTANCE = 2

/** ` Did you mean "start"?` for the known word that is closest to a mistyped one; empty when none is close. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const close = closestWord(word, candidates)
  return close === undefined ? '' : ` Did you mean "${close}"?`
}

/** The known word that differs least from the given one, by at most `maxDistance` characters and half of its own. */
export function closestWord(
  word: string,
  candidates: readonly string[],
  maxDistance: (candidate: string) => number = () => MAX_DISTANCE,
): string | undefined {
  const wanted = word.toLowerCase()
  let closest: string | undefined
  let leastDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const limit = Math.min(maxDistance(candidate), candidate.length / 2)
    // Each insertion or deletion changes the length by one, so most candidates need no comparison.
    if (Math.abs(candidate.length - wanted.length) > limit) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance > limit || distance >= leastDistance) continue
    closest = candidate
    leastDistance = distance
  }
  return closest
}

/** Optimal string alignment: insertions, deletions, replacements, and swaps of two neighbours. */
function editDistance(left: string, right: string): number {
  let before: number[] = []
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let at = 0; at < left.length; at += 1) {
    const next = [at + 1]
    for (let index = 1; index <= right.length; index += 1) {
      const replaced = (row[index - 1] ?? 0) + (right[index - 1] === left[at] ? 0 : 1)
      const isSwapped = at > 0 && left[at] === right[index - 2] && left[at - 1] === right[index - 1]
      const swapped = isSwapped ? (before[index - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[right.length] ?? 0
}
