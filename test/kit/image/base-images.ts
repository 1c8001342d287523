import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fetchNode } from '../../servers/other-node.ts'

const run = promisify(execFile)
const DEBOOTSTRAP = 'mmdebstrap'
const INSTALL_MS = 600_000

const OFFICIAL = /^node:(\d+)-(\w+)-slim$/
const DISTROLESS = /^gcr\.io\/distroless\/nodejs(\d+)-debian12:nonroot$/
/** The packages of distroless' `cc` image, on which those of Node.js are built. */
const DISTROLESS_PACKAGES = [
  'base-files',
  'ca-certificates',
  'libc6',
  'libgcc-s1',
  'libgomp1',
  'libssl3',
  'libstdc++6',
  'netbase',
  'tzdata',
]
const NONROOT = 65_532

/**
 * Fills `folder` with what the base image of this name contains: Debian's packages, and Node.js (with npm) as npm packages, because
 * the tests reach no registry of images. The versions are the newest ones, as for a tag that is pulled.
 */
export async function makeBaseImage(image: string, folder: string): Promise<void> {
  const [, officialNode, suite] = OFFICIAL.exec(image) ?? []
  const [, distrolessNode] = DISTROLESS.exec(image) ?? []
  if (officialNode !== undefined && suite !== undefined) {
    await debootstrap(['--variant=minbase', suite, folder])
    await installNode(officialNode, folder, 'usr/local')
    await installNpm(folder)
  } else if (distrolessNode !== undefined) {
    await debootstrap(['--variant=extract', `--include=${DISTROLESS_PACKAGES.join(',')}`, 'bookworm', folder])
    await removeTools(folder)
    await installNode(distrolessNode, folder, 'nodejs')
    await writeFile(join(folder, 'etc/passwd'), `nonroot:x:${NONROOT}:${NONROOT}:nonroot:/home/nonroot:/sbin/nologin\n`)
    await writeFile(join(folder, 'etc/group'), `nonroot:x:${NONROOT}:\n`)
  } else {
    throw new Error(`The replay does not know the base image ${image}.`)
  }
}

async function debootstrap(args: string[]): Promise<void> {
  await run(DEBOOTSTRAP, ['--quiet', ...args], { timeout: INSTALL_MS, maxBuffer: 2 ** 26 })
}

/** Distroless has no programs beside Node.js, and no lists of the package manager. */
async function removeTools(folder: string): Promise<void> {
  const names = [
    'bin',
    'sbin',
    'usr/bin',
    'usr/sbin',
    'usr/share/doc',
    'usr/share/man',
    'var/lib/apt',
    'var/cache/apt',
    'var/lib/dpkg',
  ]
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true })
}

async function installNode(version: string, folder: string, prefix: string): Promise<void> {
  const node = await fetchNode(version)
  try {
    await mkdir(join(folder, prefix, 'bin'), { recursive: true })
    await cp(node.program, join(folder, prefix, 'bin/node'))
    await chmod(join(folder, prefix, 'bin/node'), 0o755)
  } finally {
    await node.close()
  }
}

/** The npm of this machine's Node.js may be older than the one of the image, so it is a package, too. */
async function installNpm(folder: string): Promise<void> {
  const temporary = await mkdtemp(join(tmpdir(), 'posthorn-npm-'))
  try {
    const args = ['pack', '--silent', '--prefer-offline', '--pack-destination', temporary, 'npm@11']
    const { stdout } = await run('npm', args, { timeout: INSTALL_MS })
    await run('tar', ['-xzf', join(temporary, stdout.trim()), '-C', temporary])
    await cp(join(temporary, 'package'), join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true })
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'))
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}
