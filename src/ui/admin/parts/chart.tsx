import { Box, Text, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'

export interface Series<Point> {
  name: string
  color: string
  value(point: Point): number
}

interface ChartProps<Point extends { start: string }> {
  /** Says what the chart shows. */
  label: string
  points: readonly Point[]
  /** Stacked, the first at the bottom. */
  series: readonly Series<Point>[]
  height?: number
}

const LEFT = 36
const BOTTOM = 20
const GAP = 3
const hourFormat = new Intl.DateTimeFormat(undefined, { hour: 'numeric' })
const numberFormat = new Intl.NumberFormat(undefined, { notation: 'compact' })
const exactFormat = new Intl.NumberFormat()

/** Stacked bars, one for each hour. Screen readers get the same numbers as a table. */
export function HourChart<Point extends { start: string }>({ label, points, series, height = 180 }: ChartProps<Point>) {
  const { ref, width } = useElementSize()
  const [active, setActive] = useState<number | null>(null)
  const totals = points.map((point) => series.reduce((sum, { value }) => sum + value(point), 0))
  const top = ceiling(Math.max(0, ...totals))
  const plotHeight = height - BOTTOM - 8
  const step = points.length === 0 ? 0 : Math.max(0, width - LEFT) / points.length
  const y = (value: number) => 8 + plotHeight * (1 - value / top)
  const shown = active === null ? undefined : points[active]
  const every = step > 0 ? Math.max(1, Math.ceil(46 / step)) : 1
  return (
    <Box ref={ref} pos="relative">
      <svg className="chart" height={height} aria-hidden="true" onPointerLeave={() => setActive(null)}>
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line className="chart-grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
            <text className="chart-label" x={LEFT - 8} y={y(value) + 4} textAnchor="end">
              {numberFormat.format(value)}
            </text>
          </g>
        ))}
        {width > 0 &&
          points.map((point, index) => {
            const x = LEFT + index * step
            let below = 0
            return (
              <g key={point.start} onPointerEnter={() => setActive(index)} className="chart-bar">
                <rect
                  x={x}
                  y={8}
                  width={step}
                  height={plotHeight}
                  fill={active === index ? 'var(--portal-line)' : 'transparent'}
                  opacity={0.5}
                />
                {series.map(({ name, color, value }) => {
                  const from = below
                  below += value(point)
                  if (below === from) return null
                  const height = Math.max(1.5, y(from) - y(below))
                  return (
                    <rect
                      key={name}
                      x={x + GAP / 2}
                      y={y(from) - height}
                      width={Math.max(1, step - GAP)}
                      height={height}
                      rx={1.5}
                      fill={color}
                    />
                  )
                })}
                {(points.length - 1 - index) % every === 0 && (
                  <text className="chart-label" x={x + step / 2} y={height - 4} textAnchor="middle">
                    {hourFormat.format(new Date(point.start))}
                  </text>
                )}
              </g>
            )
          })}
      </svg>
      <div className="legend" aria-hidden="true">
        {series.map(({ name, color, value }) => (
          <span key={name}>
            <i style={{ background: color }} />
            {name}{' '}
            <b>
              {exactFormat.format(
                shown === undefined ? points.reduce((sum, point) => sum + value(point), 0) : value(shown),
              )}
            </b>
          </span>
        ))}
        <Text span inherit ms="auto">
          {shown === undefined ? 'Last 24 hours' : hourFormat.format(new Date(shown.start))}
        </Text>
      </div>
      <VisuallyHidden>
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">Hour</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map((point) => (
              <tr key={point.start}>
                <th scope="row">{hourFormat.format(new Date(point.start))}</th>
                {series.map(({ name, value }) => (
                  <td key={name}>{value(point)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </Box>
  )
}

/** The next even number of the form 2, 4, 10, 20, 40, 100, … */
function ceiling(value: number): number {
  let size = 1
  for (;;) {
    for (const factor of [2, 4, 10]) if (value <= factor * size) return factor * size
    size *= 10
  }
}
