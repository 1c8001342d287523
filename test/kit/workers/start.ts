import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { inject } from 'vitest'

/**
 * Starts `test/kit/workers/<name>.ts` as a process of its own. Its stdout is piped; what it writes to stderr appears in the output of the tests. With
 * `NODE_OPTIONS=--enable-source-maps` its stack traces name the sources, and it takes a third longer to start.
 */
export function startWorker(
  name: `${string}-worker`,
  args: readonly string[],
  environment: Record<string, string> = {},
) {
  return spawn(process.execPath, [join(inject('workers'), `${name}.mjs`), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
