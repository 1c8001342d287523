import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A message of a Maildir. `read` and `starred` are the flags S and F of its file name. */
export interface LocalMessage {
  folder: string
  file: string
  messageId: string
  read: boolean
  starred: boolean
}

/** Changes a Maildir as a mail program does that leaves the sync to another one. */
export interface Maildir {
  list(): Promise<LocalMessage[]>
  setFlags(message: LocalMessage, flags: { read: boolean; starred: boolean }): Promise<void>
  move(message: LocalMessage, folder: string): Promise<void>
  remove(message: LocalMessage): Promise<void>
}

/** `localFolders` contains the folder of the Maildir for each folder of the server. */
export function openMaildir(localFolders: Readonly<Record<string, string>>): Maildir {
  let moved = 0
  const folderPath = (folder: string) => {
    const path = localFolders[folder]
    if (path === undefined) throw new Error(`the folder ${folder} is not synced`)
    return path
  }
  return {
    async list() {
      const found: LocalMessage[] = []
      for (const [folder, path] of Object.entries(localFolders)) {
        for (const sub of ['cur', 'new']) {
          for (const name of await readdir(join(path, sub)).catch(() => [])) {
            found.push(await readMessage(folder, join(path, sub, name)))
          }
        }
      }
      return found
    },
    async setFlags({ folder, file }, { read, starred }) {
      const [name = ''] = fileName(file).split(':')
      const others = readFlags(file).filter((flag) => flag !== 'S' && flag !== 'F')
      const flags = [...others, ...(read ? ['S'] : []), ...(starred ? ['F'] : [])].sort()
      await rename(file, join(folderPath(folder), 'cur', `${name}:2,${flags.join('')}`))
    },
    async move({ file }, folder) {
      moved += 1
      const target = join(folderPath(folder), 'cur')
      await mkdir(target, { recursive: true })
      // A name of its own: both programs store the number of the message in the old one.
      await rename(
        file,
        join(target, `${Math.floor(Date.now() / 1000)}.M${moved}P${process.pid}.moved:2,${readFlags(file).join('')}`),
      )
    },
    remove: ({ file }) => rm(file),
  }
}

async function readMessage(folder: string, file: string): Promise<LocalMessage> {
  const [header = ''] = (await readFile(file, 'latin1')).split(/\r?\n\r?\n/)
  const messageId = /^message-id:\s*(\S+)/im.exec(header)?.[1] ?? ''
  const flags = readFlags(file)
  return { folder, file, messageId, read: flags.includes('S'), starred: flags.includes('F') }
}

function readFlags(file: string): string[] {
  return [...(/:2,([A-Za-z]*)$/.exec(file)?.[1] ?? '')]
}

function fileName(file: string): string {
  return file.split('/').at(-1) ?? ''
}
