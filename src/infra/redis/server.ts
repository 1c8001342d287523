/** What a server lacks, by its INFO; undefined when it will do. Servers that hide these facts are taken as they are. */
export function serverProblem(info: string): { message: string; isFatal: boolean } | undefined {
  const version = /^(?:valkey_version|redis_version):(\d+)\.(\d+)/m.exec(info)
  if (version !== null && Number(version[1]) * 100 + Number(version[2]) < OLDEST) {
    return { message: `Redis 6.2 or later is needed; this one is ${version[1]}.${version[2]}.`, isFatal: true }
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
  if (policy === undefined || policy === 'noeviction') return undefined
  return {
    message: `Redis has the policy "${policy}" and may forget jobs when its memory is full; set maxmemory-policy noeviction.`,
    isFatal: false,
  }
}

const OLDEST = 602
