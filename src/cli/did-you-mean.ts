const MAX_DISTANCE = 2

/** ` Did you mean "start"?` for the known word that is closest to a mistyped one; empty when none is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.min(MAX_DISTANCE, candidate.length / 2))
    .sort((left, right) => left.distance - right.distance)
  return ranked[0] === undefined ? '' : ` Did you mean "${ranked[0].candidate}"?`
}

/** Levenshtein distance: insertions, deletions and replacements of one character. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [at, character] of [...left].entries()) {
    const next = [at + 1]
    for (let index = 1; index <= right.length; index += 1) {
      const replaced = (row[index - 1] ?? 0) + (right[index - 1] === character ? 0 : 1)
      next.push(Math.min(replaced, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? 0
}
