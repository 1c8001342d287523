import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { CHUNK, pour, type Stream } from './pour.ts'

/** The commands at which the server attacks. */
export const IMAP_MOMENTS = ['LOGIN', 'LIST', 'STATUS', 'SELECT', 'UID', 'IDLE'] as const
export type ImapMoment = (typeof IMAP_MOMENTS)[number]

/** The untagged data that it sends without end. */
export const IMAP_ATTACKS = ['lines', 'exists', 'fetch', 'line', 'literals', 'literal', 'deep', 'drip'] as const
export type ImapAttack = (typeof IMAP_ATTACKS)[number]

export interface HostileImap {
  port: number
  /** Attacks from now on, or behaves well, which is how it starts. */
  isHostile: boolean
  close(): Promise<void>
}

/** The user at whose command `at` the server sends `attack`. */
export const imapUser = (at: ImapMoment, attack: ImapAttack) => `${at}.${attack}`

/** A TLS IMAP server with an empty mailbox for any user. Attacks at the moment that the user name says. */
export async function startHostileImap(): Promise<HostileImap> {
  const pem = await generate([{ name: 'commonName', value: 'localhost' }], { algorithm: 'sha256' })
  const sockets = new Set<TLSSocket>()
  const server = createServer({ key: pem.private, cert: pem.cert }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    serve(socket, () => it.isHostile)
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const it: HostileImap = {
    port: (server.address() as AddressInfo).port,
    isHostile: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return it
}

const CAPABILITIES = 'CAPABILITY IMAP4rev1 IDLE'

function serve(socket: TLSSocket, isHostile: () => boolean): void {
  let unread = ''
  let user = ''
  let idleTag = ''
  socket.write(`* OK [${CAPABILITIES}] ready\r\n`)
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    const lines = (unread + text).split('\r\n')
    unread = lines.pop() ?? ''
    for (const line of lines) {
      const [tag = '', name = ''] = line === 'DONE' ? [idleTag, 'DONE'] : line.split(' ')
      const command = name === 'EXAMINE' ? 'SELECT' : name.toUpperCase()
      if (command === 'LOGIN') user = /LOGIN "?([^" ]+)/i.exec(line)?.[1] ?? ''
      if (command === 'IDLE') {
        idleTag = tag
        socket.write('+ idling\r\n')
      }
      const [at, attack] = user.split('.')
      if (isHostile() && at === command) {
        const stream = STREAMS[attack as ImapAttack]?.()
        if (stream !== undefined) return pour(stream, socket)
      }
      if (command === 'IDLE') continue
      socket.write(`${untagged(command, line)}${tag} OK done\r\n`)
    }
  })
}

function untagged(command: string, line: string): string {
  if (command === 'CAPABILITY') return `* ${CAPABILITIES}\r\n`
  if (command === 'LIST') return line.endsWith('""') ? '* LIST (\\Noselect) "/" ""\r\n' : '* LIST () "/" INBOX\r\n'
  if (command === 'STATUS') return `* STATUS ${line.split(' ')[2]} (MESSAGES 0 UNSEEN 0 UIDNEXT 1)\r\n`
  if (command === 'SELECT') return '* 0 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 1] ok\r\n'
  return ''
}

const STREAMS: Record<ImapAttack, () => Stream> = {
  lines: () => numbered((number) => `* LIST () "/" "folder ${number}"\r\n`),
  exists: () => numbered((number) => `* ${number} EXISTS\r\n`),
  fetch: () => numbered((number) => `* ${number} FETCH (UID ${number} FLAGS (\\Seen))\r\n`),
  line: () => ({ head: '* OK ', next: () => 'x'.repeat(CHUNK) }),
  literals: () => ({ head: '* LIST () "/" ', next: () => '{1}\r\nx '.repeat(CHUNK / 8) }),
  literal: () => ({ head: '* LIST () "/" {1073741824}\r\n', next: () => 'x'.repeat(CHUNK) }),
  deep: () => ({ head: '* LIST ', next: () => '('.repeat(CHUNK) }),
  drip: () => ({ head: '* OK ', next: () => 'x', everyMs: 200 }),
}

function numbered(line: (number: number) => string): Stream {
  let number = 0
  return {
    head: '',
    next() {
      let text = ''
      while (text.length < CHUNK) {
        number += 1
        text += line(number)
      }
      return text
    },
  }
}
