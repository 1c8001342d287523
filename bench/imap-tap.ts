import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import type { Dovecot } from '../test/servers/dovecot.ts'

/** An IMAP server in front of another one, which reads along. Its clients use TLS; behind it nothing is encrypted. */
export interface ImapTap {
  host: string
  port: number
  /**
   * By the subject of each fetched message: when the server announced it (EXISTS) on the connection that fetched it. A message that was
   * in the folder when the connection selected it is missing.
   */
  takeAnnounced(): Map<string, number>
  close(): Promise<void>
}

const HOST = '127.0.0.1'

export async function startTap({ imapPort }: Pick<Dovecot, 'imapPort'>): Promise<ImapTap> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { algorithm: 'sha256' })
  const sockets = new Set<Socket>()
  let announced = new Map<string, number>()
  const server = createServer({ key, cert }, (near) => {
    const far = connect(imapPort, HOST)
    const reader = new AnnouncementReader((subject, atMs) => announced.set(subject, atMs))
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
    }
    join(near, far, (chunk) => reader.clientSent(chunk.toString('latin1')))
    join(far, near, (chunk) => reader.serverSent(chunk.toString('latin1')))
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    host: HOST,
    port,
    takeAnnounced() {
      const taken = announced
      announced = new Map()
      return taken
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function join(from: Socket | TLSSocket, to: Socket | TLSSocket, read: (chunk: Buffer) => void): void {
  from.on('data', (chunk: Buffer) => {
    to.write(chunk)
    read(chunk)
  })
  from.once('close', () => to.destroy())
}

/** Reads one connection whose client fetches only new messages, with their headers. */
class AnnouncementReader {
  readonly #onFetched: (subject: string, announcedAtMs: number) => void
  /** By sequence number. */
  #announcedAtMs = new Map<number, number>()
  #exists = 0
  #isSelecting = false
  #fetching = 0
  #unread = ''

  constructor(onFetched: (subject: string, announcedAtMs: number) => void) {
    this.#onFetched = onFetched
  }

  clientSent(text: string): void {
    if (/^\S+ (SELECT|EXAMINE) /im.test(text)) this.#isSelecting = true
  }

  serverSent(text: string): void {
    const nowMs = performance.timeOrigin + performance.now()
    const lines = (this.#unread + text).split('\r\n')
    this.#unread = lines.pop() ?? ''
    for (const line of lines) this.#readLine(line, nowMs)
  }

  #readLine(line: string, nowMs: number): void {
    const [, number, kind] = /^\* (\d+) (EXISTS|FETCH)/.exec(line) ?? []
    if (kind === 'EXISTS') this.#count(Number(number), nowMs)
    if (kind === 'FETCH') this.#fetching = Number(number)
    const subject = /^Subject: (.*)$/.exec(line)?.[1]
    const announcedAtMs = this.#announcedAtMs.get(this.#fetching)
    if (subject !== undefined && announcedAtMs !== undefined) this.#onFetched(subject, announcedAtMs)
  }

  #count(exists: number, nowMs: number): void {
    if (this.#isSelecting) this.#announcedAtMs.clear()
    else for (let number = this.#exists + 1; number <= exists; number += 1) this.#announcedAtMs.set(number, nowMs)
    this.#isSelecting = false
    this.#exists = exists
  }
}
