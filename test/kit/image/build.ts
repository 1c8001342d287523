import { execFile } from 'node:child_process'
import { chown, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { makeBaseImage } from './base-images.ts'
import { parseDockerfile, type Stage, type Step } from './dockerfile.ts'

const run = promisify(execFile)
const STEP_MS = 900_000
/** What a step needs of this machine to reach the registry of npm, as a build has the network of its host. */
const SHARED = ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl', '/usr/local/share/ca-certificates', '/root']

/** A built image: the files of its last stage, and how to run them. */
export interface Image {
  root: string
  config: Stage
  sizeBytes: number
  close(): Promise<void>
}

/** Builds the Dockerfile of `context` by its own instructions, each stage as a folder. Needs root, for `chroot`. */
export async function buildImage(context: string, say: (line: string) => void): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-image-'))
  const close = () => rm(folder, { recursive: true, force: true })
  try {
    const stages = parseDockerfile(await readFile(join(context, 'Dockerfile'), 'utf8'))
    const roots = new Map<string, string>()
    let last: Stage | undefined
    for (const [index, stage] of stages.entries()) {
      const root = join(folder, String(index))
      say(`FROM ${stage.base}`)
      await makeBaseImage(stage.base, root)
      await mkdir(join(root, stage.workdir), { recursive: true })
      for (const change of stage.steps) {
        say('run' in change ? `RUN ${change.run}` : `COPY ${change.copy.sources.join(' ')} ${change.copy.target}`)
        await replay(change, { stage, root, context, roots })
      }
      if (stage.name !== undefined) roots.set(stage.name, root)
      last = stage
    }
    if (last === undefined) throw new Error('The Dockerfile has no stage.')
    const root = join(folder, String(stages.length - 1))
    const { stdout } = await run('du', ['-s', '--block-size=1', '--apparent-size', root])
    return { root, config: last, sizeBytes: Number.parseInt(stdout, 10), close }
  } catch (error) {
    await close()
    throw error
  }
}

interface Place {
  stage: Stage
  root: string
  context: string
  /** Of the named stages before. */
  roots: ReadonlyMap<string, string>
}

async function replay(change: Step, place: Place): Promise<void> {
  if ('run' in change) return runInside(change.run, place)
  const { sources, target, from, owner } = change.copy
  const into = join(place.root, resolve(place.stage.workdir, target))
  await mkdir(into, { recursive: true })
  if (from === undefined) return copyContext(place.context, sources, into)
  const root = place.roots.get(from)
  if (root === undefined) throw new Error(`COPY --from=${from}: no stage before has this name.`)
  for (const source of sources) await cp(join(root, source), into, { recursive: true, verbatimSymlinks: true })
  const [uid, gid] = (owner ?? '0:0').split(':').map(Number)
  await chown(into, uid ?? 0, gid ?? 0)
}

/** Copies the context without what `.dockerignore` names: after two stars at any depth, otherwise at the top only. */
async function copyContext(context: string, sources: readonly string[], into: string): Promise<void> {
  const lines = (await readFile(join(context, '.dockerignore'), 'utf8')).split('\n')
  const patterns = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  const options = patterns.flatMap((pattern) =>
    pattern.startsWith('**/')
      ? ['--no-anchored', `--exclude=${pattern.slice(3)}`]
      : ['--anchored', `--exclude=./${pattern}`],
  )
  const paths = sources.map((source) => (source === '.' ? '.' : `./${source}`))
  const script = 'from=$1 into=$2; shift 2; tar -C "$from" -c "$@" | tar -C "$into" -x --no-same-owner'
  const args = ['-eo', 'pipefail', '-c', script, 'copy', context, into, ...options, ...paths]
  await run('bash', args, { timeout: STEP_MS })
}

/** Runs a command in the stage, with the network and the npm settings of this machine. */
async function runInside(command: string, { stage, root }: Place): Promise<void> {
  const script = new URL('./run-inside.sh', import.meta.url).pathname
  const environment = { ...stage.environment, HOME: '/root', PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' }
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => /proxy$|_CA_CERTS$/i.test(name)))
  const args = ['--mount', 'bash', script, root, stage.workdir, command, ...SHARED]
  await run('unshare', args, { env: { ...inherited, ...environment }, timeout: STEP_MS, maxBuffer: 2 ** 26 })
}
