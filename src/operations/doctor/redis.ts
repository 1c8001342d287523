import { describeError } from '../../platform/errors/describe-error.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import type { RedisReport } from '../../platform/redis/index.ts'
import { type Check, type Finding, failed, ok, Skip, warning } from './check.ts'

interface RedisChecksDeps {
  /** Asks the server once. Undefined without REDIS_URL. */
  inspect: (() => Promise<RedisReport>) | undefined
}

/** Reachable, version, and a policy that never evicts jobs. */
export function redisChecks({ inspect }: RedisChecksDeps): Check[] {
  const reported = () => {
    if (inspect === undefined) throw new Skip('REDIS_URL is not set.')
    return inspect()
  }
  return [
    { name: 'redis', run: () => reachable(reported) },
    { name: 'redis policy', run: () => policy(reported) },
  ]
}

async function reachable(report: () => Promise<RedisReport>): Promise<Finding> {
  try {
    const { version, problem } = await report()
    if (problem?.isFatal) return failed(problem.message, 'Upgrade Redis, or use Valkey.')
    return ok(`Redis ${version} responds.`)
  } catch (error) {
    if (error instanceof Skip) throw error
    rethrowProgrammingError(error)
    return failed(
      `Cannot use Redis: ${describeError(error)}`,
      'Check REDIS_URL with its password, and that Redis accepts connections from this machine.',
    )
  }
}

async function policy(report: () => Promise<RedisReport>): Promise<Finding> {
  const { policy: name } = await report().catch((error: unknown) => {
    rethrowProgrammingError(error)
    throw error instanceof Skip ? error : new Skip('Redis cannot be reached.')
  })
  if (name === undefined) throw new Skip('The server does not report its maxmemory-policy.')
  if (name === 'noeviction') return ok('Redis evicts nothing when its memory is full.')
  return warning(
    `Redis has the policy ${name} and may evict jobs when its memory is full.`,
    'Set maxmemory-policy noeviction in redis.conf, or run: redis-cli config set maxmemory-policy noeviction',
  )
}
