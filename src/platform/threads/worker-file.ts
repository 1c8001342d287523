import { existsSync } from 'node:fs'

/** The built entry file of a worker thread: beside the running program, or in `dist/` when Node runs the sources. */
export function workerFile(name: string): URL {
  const besideProgram = new URL(`./${name}.js`, import.meta.url)
  return existsSync(besideProgram) ? besideProgram : new URL(`../../../dist/${name}.js`, import.meta.url)
}
