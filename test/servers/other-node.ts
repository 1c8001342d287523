import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const DOWNLOAD_MS = 300_000

/** Another version of Node. */
export interface OtherNode {
  /** Its program. */
  program: string
  version: string
  close(): Promise<void>
}

/** Gets this version of Node, or the newest of a major version, as the npm package with its program. */
export async function fetchNode(wanted: string): Promise<OtherNode> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-node-'))
  const close = () => rm(folder, { recursive: true, force: true })
  try {
    const name = `node-${process.platform}-${process.arch}@${wanted}`
    const packing = ['pack', '--silent', '--json', '--prefer-offline', '--pack-destination', folder, name]
    const { stdout } = await run('npm', packing, { timeout: DOWNLOAD_MS })
    const [{ filename }] = JSON.parse(stdout)
    await run('tar', ['-xzf', join(folder, filename), '-C', folder, 'package/bin/node'])
    const program = join(folder, 'package', 'bin', 'node')
    const version = (await run(program, ['--version'])).stdout.trim()
    return { program, version, close }
  } catch (error) {
    await close()
    throw error
  }
}
