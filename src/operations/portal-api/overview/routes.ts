import type { App } from '../../../platform/http/index.ts'
import { overviewSchema, rateQuery, ratesSchema } from './api.ts'
import type { CurrentCounts } from './current-counts.ts'
import type { DeliveryRates } from './delivery-rates.ts'

/** Not part of the documented API: the portal of the same version is the only client. */
export function overviewRoutes(app: App, currentCounts: CurrentCounts, deliveryRates: DeliveryRates): void {
  const config = { access: 'key:read' } as const
  app.get('/admin/overview', { config, schema: { hide: true, response: { 200: overviewSchema } } }, () =>
    currentCounts(),
  )
  app.get(
    '/admin/delivery-rates',
    { config, schema: { hide: true, querystring: rateQuery, response: { 200: ratesSchema } } },
    ({ query }) => deliveryRates(query.endpointId),
  )
}
