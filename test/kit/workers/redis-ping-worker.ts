import { silentLog } from '../../../src/platform/log/index.ts'
import { openRedis } from '../../../src/platform/redis/index.ts'

/** A process whose environment decides which certificates it trusts. Fails when Redis does not respond. */
const link = await openRedis({ url: process.argv[2] ?? '', log: silentLog, startMs: 5000 })
await link.ping()
await link.close()
