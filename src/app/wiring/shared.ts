import { recorder } from '../../events/index.ts'
import { catalogue } from '../feature-list.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { RuntimeContext } from '../runtime-context.ts'

export type Shared = ReturnType<typeof sharedDeps>

/** Dependencies that every feature may use. Each takes what its own type of dependencies names. */
export function sharedDeps(context: RuntimeContext, infrastructure: Infrastructure) {
  const { config, clock, ids, instanceId, log, mailServers } = context
  const { db, secrets, bus, queue, guard, outbound, records } = infrastructure
  const events = recorder({ bus, clock, ids, catalogue })
  return {
    config,
    clock,
    ids,
    instanceId,
    log,
    db,
    bus,
    queue,
    guard,
    outbound,
    records,
    mailServers,
    sealer: secrets.sealer,
    catalogue,
    events,
  }
}
