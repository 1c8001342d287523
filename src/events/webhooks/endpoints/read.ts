import type { Handle } from '../../../platform/db/index.ts'

/** The addresses of the active endpoints, oldest first. */
export function activeEndpoints(handle: Handle): Promise<{ id: string; url: string }[]> {
  return handle.selectFrom('webhookEndpoints').select(['id', 'url']).where('isActive', '=', 1).orderBy('id').execute()
}
