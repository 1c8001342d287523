import type { Schema } from './schema.ts'

/** Tables of the service itself: state, instances, jobs, idempotent responses. */
export async function service({ table, index }: Schema): Promise<void> {
  await table(
    'serviceState',
    [
      ['name', 'text'],
      ['value', 'text'],
    ],
    ['name'],
  )
  await table(
    'instances',
    [
      ['id', 'text'],
      ['heartbeatAt', 'bigint'],
      ['startedAt', 'bigint'],
    ],
    ['id'],
  )

  await table(
    'jobs',
    [
      ['lane', 'text'],
      ['subject', 'text'],
      ['state', 'text'],
      ['runAt', 'bigint'],
      ['again', 'integer', 'default 0'],
      ['attempts', 'integer', 'default 0'],
      ['leaseUntil', 'bigint', 'null'],
      ['lease', 'text', 'null'],
      ['instanceId', 'text', 'null'],
      ['lastRunAt', 'bigint', 'null'],
      ['lastError', 'text', 'null'],
      ['completed', 'bigint', 'default 0'],
      ['failed', 'bigint', 'default 0'],
    ],
    ['lane', 'subject'],
  )
  await index('jobs', ['lane', 'runAt'], { where: `"state" = 'waiting'` })
  await index('jobs', ['leaseUntil'], { where: `"state" = 'active'` })
  await table(
    'jobLanes',
    [
      ['lane', 'text'],
      ['paused', 'integer', 'default 0'],
      ['completed', 'bigint', 'default 0'],
      ['failed', 'bigint', 'default 0'],
    ],
    ['lane'],
  )

  await table(
    'idempotencyKeys',
    [
      ['id', 'text'],
      ['bodyHash', 'text'],
      ['state', 'text'],
      ['leaseUntil', 'bigint'],
      ['token', 'text'],
      ['status', 'integer', 'null'],
      ['answer', 'text', 'null'],
      ['expiresAt', 'bigint'],
    ],
    ['id'],
  )
  await index('idempotencyKeys', ['expiresAt'])
}
