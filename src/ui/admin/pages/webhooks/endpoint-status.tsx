import type { Endpoint } from '../../api/types.ts'
import { Status } from '../../parts/status.tsx'

/** Whether events reach the endpoint. */
export function EndpointStatus({ endpoint: { isActive, circuit } }: { endpoint: Endpoint }) {
  if (!isActive) return <Status tone="warn">Inactive</Status>
  if (circuit.state === 'open') return <Status tone="bad">Unreachable</Status>
  if (circuit.state === 'half_open') return <Status tone="busy">Probing</Status>
  if (circuit.failures > 0) return <Status tone="warn">Failing</Status>
  return <Status tone="good">Active</Status>
}
