/**
 * `GET /metrics` for Prometheus. Features call small functions where something happens; gauges are read at the scrape.
 * See docs/decisions/0046-logs-health-and-metrics.md.
 */
export { type Figures, readFigures } from './figures.ts'
export { type GmailUnits, gmailUnits } from './gmail-units.ts'
export { type MetricSources, type Metrics, metrics } from './metrics.ts'
export { metricsRoutes } from './routes.ts'
