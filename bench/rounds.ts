/** Samples of the service and of the raw protocol beside it, one of each per round. */
export interface Compared {
  ours: number[]
  bare: number[]
}

/** `BENCH_ROUNDS`: how often each figure is measured. The median counts. */
export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)

/**
 * Measures the service and the raw protocol in turns, so that both meet the same machine. Which of them is first changes with each round.
 */
export async function inTurns(
  measureOurs: (round: number) => Promise<number>,
  measureBare: (round: number) => Promise<number>,
): Promise<Compared> {
  const compared: Compared = { ours: [], bare: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round % 2 === 0) compared.bare.push(await measureBare(round))
    compared.ours.push(await measureOurs(round))
    if (round % 2 === 1) compared.bare.push(await measureBare(round))
  }
  return compared
}
