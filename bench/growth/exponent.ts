/** The cost of the same work on a store of one size. */
export interface Point {
  size: number
  cost: number
}

/**
 * The exponent of a power law through the points, by least squares over their logarithms: 1 when the cost is proportional to the size, 2
 * when it grows with its square. NaN for fewer than two sizes.
 */
export function fitExponent(points: readonly Point[]): number {
  const logs = points.map(({ size, cost }) => ({ x: Math.log(size), y: Math.log(cost) }))
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(logs.map(({ x }) => x)), mean(logs.map(({ y }) => y))]
  const products = logs.map(({ x, y }) => (x - meanX) * (y - meanY))
  const squares = logs.map(({ x }) => (x - meanX) ** 2)
  return mean(products) / mean(squares)
}
