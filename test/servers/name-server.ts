import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The result of one query: addresses, of which the queried family is returned, or an error, or no response. */
export type NameAnswer = readonly string[] | 'no such name' | 'refused' | 'silence'

export interface NameServer {
  /** `host:port`, for `Resolver.setServers`. */
  server: string
  /** Queried names, one entry per query. */
  asked: string[]
  close(): Promise<void>
}

const A = 1
const RESPONSE_CODE = { 'no such name': 3, refused: 5 }

/** A name server on loopback. */
export async function startNameServer(respond: (name: string) => NameAnswer, ttlSeconds = 30): Promise<NameServer> {
  const asked: string[] = []
  const served = await serveQuestions(({ name, type }) => {
    asked.push(name)
    const result = respond(name)
    if (result === 'silence') return undefined
    if (typeof result === 'string') return { code: RESPONSE_CODE[result], records: [] }
    const addresses = result.filter((text) => (type === A) === ipaddr.IPv4.isValid(text))
    return { code: 0, ttlSeconds, records: addresses.map((text) => Buffer.from(ipaddr.parse(text).toByteArray())) }
  })
  return { ...served, asked }
}

interface Question {
  name: string
  type: number
}

interface Reply {
  /** RCODE: 0 when the name exists. */
  code: number
  ttlSeconds?: number
  /** Record data, all of the queried type. */
  records: readonly Buffer[]
}

/** The longest response over UDP. For a longer one, the client connects over TCP. */
const UDP_BYTES = 1200

/** Serves DNS queries. Sends nothing when `reply` returns undefined. */
export async function serveQuestions(reply: (question: Question) => Reply | undefined) {
  const overTcp = createServer((connection) => {
    connection.on('error', () => {})
    connection.once('data', (bytes: Buffer) => {
      // The length of the query comes first.
      const response = responseTo(bytes.subarray(2), reply)
      if (response === undefined) return
      const length = Buffer.alloc(2)
      length.writeUInt16BE(response.length)
      connection.end(Buffer.concat([length, response]))
    })
  })
  overTcp.listen(0, '127.0.0.1')
  await once(overTcp, 'listening')
  const { port } = overTcp.address() as AddressInfo
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const response = responseTo(query, reply)
    if (response === undefined) return
    const isLong = response.length > UDP_BYTES
    socket.send(isLong ? truncated(query) : response, from.port, from.address)
  })
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return {
    server: `127.0.0.1:${port}`,
    close: async () => {
      overTcp.close()
      await new Promise<void>((resolve) => void socket.close(() => resolve()))
    },
  }
}

function responseTo(query: Buffer, reply: (question: Question) => Reply | undefined): Buffer | undefined {
  const { name, type, end } = parseQuestion(query)
  const result = reply({ name, type })
  if (result === undefined) return undefined
  const head = buildHead(query.subarray(0, end), 0x8180 | result.code, result.records.length)
  const records = result.records.map((data) => record(type, result.ttlSeconds ?? 30, data))
  return Buffer.concat([head, ...records])
}

/** Says that the response did not fit. */
function truncated(query: Buffer): Buffer {
  return buildHead(query.subarray(0, parseQuestion(query).end), 0x8380, 0)
}

function buildHead(question: Buffer, flags: number, records: number): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(flags, 2)
  head.writeUInt16BE(records, 6)
  head.writeUInt16BE(0, 8)
  head.writeUInt16BE(0, 10)
  return head
}

function parseQuestion(query: Buffer): Question & { end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function record(type: number, ttlSeconds: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12)
  // A pointer to the name in the question.
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(ttlSeconds, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
