import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Programs, which would run. */
const PROGRAMS = ['posthorn.js', 'demo-emulator.js', 'bench.js']
const LIMIT_MS = 120_000

/**
 * Loads every file of dist with this program of Node: what the service loads later, and the files of its threads. Throws with the
 * output when one cannot be loaded, and returns their names.
 */
export async function loadEachFile(node: string): Promise<string[]> {
  const names = (await readdir('dist')).filter((name) => name.endsWith('.js') && !PROGRAMS.includes(name))
  const urls = names.map((name) => new URL(`../../dist/${name}`, import.meta.url).href)
  const loader = new URL('../kit/service/load-files.mjs', import.meta.url).pathname
  await promisify(execFile)(node, [loader, ...urls], { timeout: LIMIT_MS })
  return names
}
