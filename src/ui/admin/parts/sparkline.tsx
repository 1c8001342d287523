const WIDTH = 100
const HEIGHT = 32
/** Half of the line's width, so that it is not cut off. */
const EDGE = 2

/** A small line without axes: the course of a value. Decoration: the text beside it has the numbers. A null is not known. */
export function Sparkline({ values }: { values: readonly (number | null)[] }) {
  const known = values.flatMap((value) => value ?? [])
  const top = Math.max(...known, 1)
  const x = (index: number) => EDGE + (index * (WIDTH - 2 * EDGE)) / Math.max(1, values.length - 1)
  const y = (value: number) => HEIGHT - EDGE - (value / top) * (HEIGHT - 2 * EDGE)
  const points = values.flatMap((value, index) => (value === null ? [] : [{ x: x(index), y: y(value) }]))
  const [first] = points
  const last = points.at(-1)
  // One value has no course.
  if (first === undefined || last === undefined || first === last) return <div className="sparkline" />
  const line = points.map((point) => `${point.x},${point.y}`).join(' ')
  return (
    <svg className="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon className="sparkline-area" points={`${first.x},${HEIGHT} ${line} ${last.x},${HEIGHT}`} />
      <polyline className="sparkline-line" points={line} />
    </svg>
  )
}
