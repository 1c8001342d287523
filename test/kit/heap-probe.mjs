// Loaded into a service by NODE_OPTIONS: on SIGUSR2 it collects garbage and says how many bytes are still in use. Resident
// memory wanders with what V8 has not collected yet; this does not.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
let looks = 0

process.on('SIGUSR2', () => {
  collect()
  looks += 1
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`live heap ${looks} ${heapUsed + external}\n`)
})
