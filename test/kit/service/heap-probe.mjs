// Preloaded into a service by NODE_OPTIONS. On SIGUSR2 it collects garbage and prints the bytes still in use, a figure that
// does not vary with V8's garbage collection as resident memory does.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
let count = 0

process.on('SIGUSR2', () => {
  collectGarbage()
  count += 1
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`heap probe ${count} ${heapUsed + external}\n`)
})
