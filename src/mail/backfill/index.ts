/**
 * Historical backfill: reads the mail that is older than what first syncs store, beside live sync, in batches that any instance may run.
 * The rows of `backfills` and `backfillFolders` hold the state; `docs/decisions/0044-historical-backfill.md` says why.
 */

import { type BackfillEngineDeps, backfillEngine } from './engine.ts'
import { type BackfillServiceDeps, backfillService } from './service.ts'
import type {} from './tables.ts'

export { backfillFeature } from './feature.ts'
export { backfillRoutes } from './routes.ts'

export type BackfillDeps = BackfillServiceDeps & Omit<BackfillEngineDeps, 'service'>

export function backfill(deps: BackfillDeps) {
  const service = backfillService(deps)
  const { start, stop } = backfillEngine({ ...deps, service })
  return { service, start, stop }
}
