import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { lazy } from '../../src/platform/concurrency/lazy.ts'
import type { MailAccess } from '../../src/providers/contract/index.ts'

export interface ImapScript {
  /** The address to listen on. Default 127.0.0.1. */
  host?: string
  /** Sent in addition to IMAP4rev1 and IDLE. */
  capabilities?: string
  withoutIdle?: boolean
  /** Folders beside INBOX, all empty. */
  folders?: string[]
  /** Untagged lines sent for every SELECT and EXAMINE. */
  selected?: string[]
  /** The items of every STATUS response; default: an empty folder. */
  status?: string
  /** Called before the response to STATUS of this folder. */
  onStatus?(folder: string, say: (...lines: string[]) => void): void
  /** Called before the response to `UID …`, with the rest of the command. */
  onUid?(command: string, say: (...lines: string[]) => void): void
  /** Called before the response to a command, with its line as bytes (latin1). Return true when the command gets no other response. */
  onCommand?(name: string, socket: TLSSocket, tag: string, line: string): boolean | undefined
  /** Called when the client enters IDLE. */
  onIdle?(say: (...lines: string[]) => void, socket: TLSSocket): void
}

/** A TLS IMAP server that sends scripted lines. Accepts any login and has empty folders. */
export interface ScriptedImap {
  access: MailAccess
  /** Names of the received commands, in order. */
  commands: string[]
  /** Ends every connection. */
  disconnect(): void
  close(): Promise<void>
}

const EMPTY_FOLDER = ['0 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 1] ok']
const EMPTY_STATUS = 'MESSAGES 0 UNSEEN 0 UIDNEXT 1'

/** One for all servers of the process: generating its key takes a fifth of a second. */
const certificate = lazy(() => generate([{ name: 'commonName', value: 'localhost' }], { algorithm: 'sha256' }))

export async function startScriptedImap(script: ImapScript): Promise<ScriptedImap> {
  const pem = await certificate()
  const capabilities = `IMAP4rev1 ${script.withoutIdle ? '' : 'IDLE '}${script.capabilities ?? ''}`.trim()
  const folders = ['INBOX', ...(script.folders ?? [])]
  const attributes = capabilities.includes('LIST-EXTENDED') ? '\\Subscribed' : ''
  const listed = folders.map((folder) => `LIST (${attributes}) "/" ${folder}`)
  const formatStatus = (folder: string) => `STATUS ${folder} (${script.status ?? EMPTY_STATUS})`
  const commands: string[] = []
  const sockets = new Set<TLSSocket>()
  // A response may be several writes, which Nagle's algorithm would delay by 40 ms.
  const server = createServer({ key: pem.private, cert: pem.cert, noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    const say = (...lines: string[]) => void socket.write(lines.map((line) => `* ${line}\r\n`).join(''))
    say(`OK [CAPABILITY ${capabilities}] ready`)
    let unread = ''
    let idleTag = ''
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      const lines = (unread + text).split('\r\n')
      unread = lines.pop() ?? ''
      for (const line of lines) {
        const [first = '', second = '', third = ''] = line.split(' ')
        const [tag, name] = first === 'DONE' ? [idleTag, 'DONE'] : [first, second.toUpperCase()]
        commands.push(name)
        if (name === 'IDLE') {
          idleTag = tag
          socket.write('+ idling\r\n')
          script.onIdle?.(say, socket)
          continue
        }
        if (script.onCommand?.(name, socket, tag, line)) continue
        if (name === 'CAPABILITY') say(`CAPABILITY ${capabilities}`)
        if (name === 'ENABLE') say('ENABLED CONDSTORE')
        if (name === 'LIST') say(...(line.endsWith('""') ? ['LIST (\\Noselect) "/" ""'] : listed))
        if (name === 'LIST' && line.includes('(STATUS')) say(...folders.map(formatStatus))
        if (name === 'STATUS') {
          script.onStatus?.(third, say)
          say(formatStatus(third))
        }
        if (name === 'UID') script.onUid?.(line.slice(tag.length + ' UID '.length), say)
        if (name === 'SELECT' || name === 'EXAMINE') say(...(script.selected ?? EMPTY_FOLDER))
        socket.write(`${tag} OK done\r\n`)
      }
    })
  })
  server.listen(0, script.host ?? '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const imap = { host: '127.0.0.1', port, security: 'tls' as const, username: 'ann', allowSelfSigned: true }
  return {
    access: {
      accountId: 'acc_scripted',
      email: 'ann@example.test',
      settings: { imap: { ...imap, mailbox: 'INBOX' } },
      secrets: { password: 'secret' },
    },
    commands,
    disconnect() {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
