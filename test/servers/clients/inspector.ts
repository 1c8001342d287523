import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const DOWNLOAD_MS = 600_000
const CALL_MS = 120_000
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024

/** The command line of the MCP Inspector, the tool with which the authors of the protocol test servers. */
export interface Inspector {
  /** Runs one method and returns its result. Throws when the inspector ends with another code than 0. */
  run(...args: readonly string[]): Promise<ReturnType<typeof JSON.parse>>
  close(): Promise<void>
}

/** Gets this version, which is too large to be a dependency, and runs it with this program of Node. */
export async function fetchInspector(version: string, node: string): Promise<Inspector> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-inspector-'))
  const close = () => rm(folder, { recursive: true, force: true })
  try {
    const name = `@modelcontextprotocol/inspector@${version}`
    const install = ['install', '--silent', '--ignore-scripts', '--no-audit', '--prefer-offline', '--prefix', folder]
    await run('npm', [...install, name], { timeout: DOWNLOAD_MS })
    const program = join(folder, 'node_modules', '.bin', 'mcp-inspector')
    // It keeps a catalogue of servers in the home folder.
    const env = { PATH: process.env.PATH, HOME: folder }
    const options = { timeout: CALL_MS, maxBuffer: MAX_OUTPUT_BYTES, env }
    return {
      async run(...args) {
        const { stdout } = await run(node, [program, '--cli', '--connect-timeout', String(CALL_MS), ...args], options)
        return JSON.parse(stdout)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
