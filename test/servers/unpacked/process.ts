import { spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackedServer } from '../../../scripts/server-packages.mjs'
import { eventually } from '../../kit/eventually.ts'
import { accepts, makeCertificate } from '../loopback.ts'

export interface ServerCommand {
  program: string
  args: string[]
  env: Record<string, string>
  /** The user of the process, default the user of this one. */
  uid?: number
  gid?: number
  /** Ports that accept connections when the server is ready. */
  ports: number[]
  /** `output.log` in this folder gets the output. */
  folder: string
}

export interface ServerProcess {
  /** Ends the server with all its processes. */
  end(): Promise<void>
}

export type ServerName = 'cyrus' | 'courier' | 'exim' | 'postfix'

/** False when the server is not unpacked, or without root. Tests that need it are then skipped. */
export function isUnpacked(name: ServerName): boolean {
  return unpackedServer(name) !== undefined && process.getuid?.() === 0
}

/**
 * Calls `start` with the folder of the programs, and with a new folder that every user may enter. `certify` writes `cert.pem`
 * and `key.pem` to it, by default for `localhost`.
 * Another process may take a free port before the server binds it, so a failed start is repeated.
 */
export async function startUnpacked<T>(
  name: ServerName,
  start: (root: string, folder: string) => Promise<T>,
  certify: (folder: string) => Promise<string> = makeCertificate,
): Promise<T> {
  const root = unpackedServer(name)
  if (root === undefined) throw new Error(`The packages of ${name} are not unpacked. Run npm test as root on Debian.`)
  for (let attempt = 1; ; attempt += 1) {
    const folder = await mkdtemp(join(tmpdir(), `posthorn-${name}-`))
    await chmod(folder, 0o755)
    await certify(folder)
    try {
      return await start(root, folder)
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      if (attempt === 3) throw error
    }
  }
}

/** Starts a server in its own process group, which ends with this process at the latest. */
export async function startProcess(command: ServerCommand): Promise<ServerProcess> {
  const { program, args, env, uid, gid, ports, folder } = command
  const logFile = join(folder, 'output.log')
  const log = openSync(logFile, 'a')
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', log, log],
    detached: true,
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  })
  let running = true
  const exited = new Promise<void>((resolve) => {
    const onEnd = () => {
      running = false
      resolve()
    }
    child.once('exit', onEnd)
    child.once('error', onEnd)
  })
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Every process of the group has ended.
    }
  }
  process.once('exit', killGroup)
  const end = async () => {
    child.kill('SIGTERM')
    // Sessions would keep the master waiting. Killing them loses nothing that a test reads.
    const timer = setTimeout(killGroup, 300)
    await exited
    clearTimeout(timer)
    killGroup()
    process.removeListener('exit', killGroup)
  }
  const ready = async () => {
    if (running) await Promise.all(ports.map(accepts))
  }
  await eventually(ready, 20_000, 20).catch(async (error) => {
    await end()
    throw error
  })
  if (!running) throw new Error(`${program} did not start: ${await readFile(logFile, 'utf8')}`)
  return { end }
}
