/**
 * An IMAP server with large mailboxes, as a process of its own: `<user>-<count>` logs in to an INBOX of that many small
 * messages. A line `empty <user>` on stdin empties one and ends its connections. Without CONDSTORE: clients compare.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { createServer, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'

const CAPABILITIES = 'IMAP4rev1 IDLE'
const emptied = new Set<string>()
const sockets = new Map<TLSSocket, string>()

const pem = await generate([{ name: 'commonName', value: 'localhost' }], { algorithm: 'sha256' })
const server = createServer({ key: pem.private, cert: pem.cert }, serve).listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`${(server.address() as AddressInfo).port}\n`)

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [, user = ''] = line.split(' ')
    emptied.add(user)
    for (const [socket, of] of sockets) if (of === user) socket.destroy()
  })
  .on('close', () => process.exit())

function serve(socket: TLSSocket): void {
  let unread = ''
  let user = ''
  let idleTag = ''
  const size = () => Number(user.split('-').at(-1))
  const exists = () => (emptied.has(user) ? 0 : size())
  const say = (...lines: string[]) => void socket.write(lines.map((line) => `* ${line}\r\n`).join(''))
  const login = (name: string) => {
    user = name
    sockets.set(socket, user)
  }
  socket.on('error', () => {})
  socket.on('close', () => sockets.delete(socket))
  socket.setEncoding('latin1')
  say(`OK [CAPABILITY ${CAPABILITIES}] ready`)
  socket.on('data', (text: string) => {
    const lines = (unread + text).split('\r\n')
    unread = lines.pop() ?? ''
    for (const line of lines) respond(line)
  })

  function respond(line: string): void {
    if (line === 'DONE') return void socket.write(`${idleTag} OK done\r\n`)
    const [tag = '', first = '', ...rest] = line.split(' ')
    const name = first.toUpperCase() === 'UID' ? `UID ${rest.shift()?.toUpperCase()}` : first.toUpperCase()
    if (name === 'LOGIN') login((rest[0] ?? '').replaceAll('"', ''))
    if (name === 'CAPABILITY') say(`CAPABILITY ${CAPABILITIES}`)
    if (name === 'LIST') say('LIST () "/" INBOX')
    if (name === 'NAMESPACE') say('NAMESPACE (("" "/")) NIL NIL')
    if (name === 'STATUS') {
      say(`STATUS INBOX (MESSAGES ${exists()} UNSEEN ${exists()} UIDNEXT ${size() + 1} UIDVALIDITY 7)`)
    }
    if (name === 'SELECT' || name === 'EXAMINE') {
      say('FLAGS (\\Seen \\Flagged)', `${exists()} EXISTS`, 'OK [UIDVALIDITY 7] ok', `OK [UIDNEXT ${size() + 1}] ok`)
    }
    if (name === 'UID SEARCH') say(`SEARCH ${parseUids(rest.at(-1) ?? '').join(' ')}`)
    if (name === 'UID FETCH') {
      const isFull = line.includes('BODYSTRUCTURE')
      const uids = parseUids(rest[0] ?? '')
      socket.write(uids.map((uid) => (isFull ? message(uid) : `* ${uid} FETCH (UID ${uid} FLAGS ())\r\n`)).join(''))
    }
    if (name === 'IDLE') {
      idleTag = tag
      socket.write('+ idling\r\n')
      return
    }
    socket.write(`${tag} OK done\r\n`)
  }

  /** Positions and uids are the same numbers here. */
  function parseUids(set: string): number[] {
    const last = exists()
    const bound = (text: string) => (text === '*' ? last : Number(text))
    return set.split(',').flatMap((part) => {
      const [low = 0, high = low] = part.split(':').map(bound)
      const [from, to] = [Math.min(low, high), Math.min(Math.max(low, high), last)]
      return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
    })
  }
}

function message(uid: number): string {
  const header = [
    `Message-ID: <${uid}@bench.example>`,
    'From: Ada Sender <ada@bench.example>',
    'To: Grace Receiver <grace@bench.example>',
    `Subject: Message ${uid} of a large mailbox`,
    'Date: Mon, 05 Jan 2026 10:00:00 +0000',
    'Content-Type: text/plain; charset=utf-8',
    '\r\n',
  ].join('\r\n')
  const text = `This is message ${uid}. ${'Some ordinary text. '.repeat(10)}\r\n`
  const structure = `("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "7BIT" ${text.length} 1 NIL NIL NIL NIL)`
  const literal = (value: string) => `{${value.length}}\r\n${value}`
  const date = '"05-Jan-2026 10:00:00 +0000"'
  const facts = `UID ${uid} FLAGS () INTERNALDATE ${date} RFC822.SIZE ${header.length + text.length} BODYSTRUCTURE ${structure}`
  return `* ${uid} FETCH (${facts} BODY[HEADER]<0> ${literal(header)} BODY[TEXT]<0> ${literal(text)})\r\n`
}
