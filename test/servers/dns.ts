import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { question } from './names.ts'

/** The records of one name. What is not given does not exist. */
export interface ZoneEntry {
  mx?: readonly { exchange: string; priority: number }[]
  srv?: readonly { name: string; port: number; priority: number; weight: number }[]
  /** The question is never answered. */
  silent?: boolean
}

export interface Dns {
  /** `host:port`, for `Resolver.setServers`. */
  server: string
  /** `MX example.com`, one entry per question. */
  asked: string[]
  close(): Promise<void>
}

const TYPES = new Map([
  [15, 'MX'],
  [33, 'SRV'],
])

/** A name server on loopback that knows where mail is to be brought (MX) and fetched (SRV). */
export async function startDns(zone: Readonly<Record<string, ZoneEntry>>): Promise<Dns> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query)
    const kind = TYPES.get(type) ?? String(type)
    asked.push(`${kind} ${name}`)
    const entry = zone[name]
    if (entry?.silent) return
    const records = kind === 'MX' ? (entry?.mx ?? []).map(mx) : kind === 'SRV' ? (entry?.srv ?? []).map(srv) : []
    const head = Buffer.from(query.subarray(0, end))
    head.writeUInt16BE(0x8180 | (entry === undefined ? 3 : 0), 2)
    head.writeUInt16BE(records.length, 6)
    head.writeUInt16BE(0, 8)
    head.writeUInt16BE(0, 10)
    socket.send(Buffer.concat([head, ...records.map((data) => record(type, data))]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => void socket.close(() => resolve())),
  }
}

const mx = ({ exchange, priority }: { exchange: string; priority: number }) =>
  Buffer.concat([uint16(priority), domainName(exchange)])

const srv = (entry: { name: string; port: number; priority: number; weight: number }) =>
  Buffer.concat([uint16(entry.priority), uint16(entry.weight), uint16(entry.port), domainName(entry.name)])

function record(type: number, data: Buffer): Buffer {
  // A pointer to the name in the question, class IN, 30 s.
  return Buffer.concat([uint16(0xc00c), uint16(type), uint16(1), uint16(0), uint16(30), uint16(data.length), data])
}

function domainName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.from([0]),
  ])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
