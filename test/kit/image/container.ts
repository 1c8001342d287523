import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import type { Image } from './build.ts'

const run = promisify(execFile)
const COMMAND_MS = 60_000

/** A container of an image, with the limits of this process: a read-only root, no capabilities, the image's user, and the network of this process. */
export interface Container {
  output(): string
  /** Runs the image's HEALTHCHECK in it. Returns its exit code. */
  checkHealth(): Promise<number>
  /** Runs a command in it and returns its output. */
  execute(command: readonly string[]): Promise<string>
  /** Sends SIGTERM to process 1, and returns the exit code. */
  stop(): Promise<number | null>
  /** Kills it, if it runs, and removes its files. Works twice. */
  close(): Promise<void>
}

export interface ContainerOptions {
  environment?: Record<string, string>
  /** Folders of this machine, by their place in the container. */
  volumes: Record<string, string>
  /** Default: the CMD of the image. */
  command?: readonly string[]
}

/** Starts the image's ENTRYPOINT under crun, as Docker and Kubernetes would with `readOnlyRootFilesystem`. Needs root. */
export async function startContainer(image: Image, options: ContainerOptions): Promise<Container> {
  const bundle = await mkdtemp(join(tmpdir(), 'posthorn-container-'))
  const id = basename(bundle)
  await mkdir(join(bundle, 'state'))
  await writeFile(join(bundle, 'config.json'), JSON.stringify(runtimeConfig(image, options)))
  const script = new URL('./crun.sh', import.meta.url).pathname
  const crun = (...args: string[]) => ['--mount', 'bash', script, '--root', join(bundle, 'state'), ...args]
  const child = spawn('unshare', crun('run', '--bundle', bundle, id), { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  const output = collect(child)
  const kill = (signal: string) => run('unshare', crun('kill', id, signal), { timeout: COMMAND_MS })
  const execute = async (command: readonly string[]) =>
    (await run('unshare', crun('exec', '--user', image.config.user, id, ...command), { timeout: COMMAND_MS })).stdout
  return {
    output,
    execute,
    async checkHealth() {
      if (child.exitCode !== null) throw new Error(`The container has ended: ${output()}`)
      return execute(image.config.healthcheck).then(
        () => 0,
        (error) => Number(error.code),
      )
    },
    async stop() {
      await kill('SIGTERM')
      await exited
      return child.exitCode
    },
    async close() {
      if (child.exitCode === null && child.signalCode === null) {
        await kill('SIGKILL').catch(() => child.kill('SIGKILL'))
        await exited
      }
      await rm(bundle, { recursive: true, force: true })
    },
  }
}

/** The configuration of the OCI runtime specification. */
function runtimeConfig({ root, config }: Image, { environment = {}, volumes, command }: ContainerOptions) {
  const [uid, gid] = config.user.split(':').map(Number)
  const variables = { PATH: '/usr/local/bin:/usr/bin:/bin', ...config.environment, ...environment }
  return {
    ociVersion: '1.0.0',
    process: {
      user: { uid, gid },
      args: [...config.entrypoint, ...(command ?? config.command)],
      env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      cwd: config.workdir,
      capabilities: {},
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] },
      ...Object.entries(volumes).map(([destination, source]) => ({
        destination,
        type: 'bind',
        source,
        options: ['rbind', 'rw'],
      })),
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
    },
  }
}

function collect(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  return () => output
}
