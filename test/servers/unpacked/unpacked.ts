import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** The user `mail` of every Debian, which serves Cyrus. */
export const MAIL_USER = { uid: 8, gid: 8 }

/** Lets programs find the libraries and SASL plugins that were unpacked with them. */
export function unpackedEnvironment(root: string): Record<string, string> {
  const libraries = ['lib', 'usr/lib'].flatMap((path) => {
    const folder = join(root, path)
    const names = existsSync(folder) ? readdirSync(folder) : []
    return names.filter((name) => name.endsWith('-linux-gnu')).map((name) => join(folder, name))
  })
  const plugins = libraries.flatMap((path) => [join(path, 'sasl2'), join('/usr/lib', basename(path), 'sasl2')])
  return { LD_LIBRARY_PATH: libraries.join(':'), SASL_PATH: plugins.join(':') }
}

interface SystemUser {
  uid: number
  gid: number
}

export function systemUser(name: string): SystemUser {
  const [, , uid, gid] = entry('/etc/passwd', name)
  return { uid: Number(uid), gid: Number(gid) }
}

export function systemGroup(name: string): number {
  return Number(entry('/etc/group', name)[2])
}

function entry(file: string, name: string): string[] {
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))
  if (line === undefined) throw new Error(`${file} has no entry "${name}". Run npm test as root on Debian.`)
  return line.split(':')
}

export async function giveTo({ uid, gid }: SystemUser, folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) await chown(join(folder, path), uid, gid)
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended.
  }
}

/** Processes whose environment contains both texts. */
export function processesWith(...texts: string[]): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      return texts.every((text) => environment.includes(text)) ? [Number(pid)] : []
    } catch {
      return [] // The process has ended.
    }
  })
}
