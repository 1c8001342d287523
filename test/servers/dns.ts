import { serveQuestions } from './name-server.ts'

/** The records of one name. Absent record types do not exist. */
export interface ZoneEntry {
  mx?: readonly { exchange: string; priority: number }[]
  srv?: readonly { name: string; port: number; priority: number; weight: number }[]
  txt?: readonly string[]
  /** Never responds. */
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
  [16, 'TXT'],
  [33, 'SRV'],
])

/** A name server on loopback with MX, SRV and TXT records. */
export async function startDns(zone: Readonly<Record<string, ZoneEntry>>): Promise<Dns> {
  const asked: string[] = []
  const served = await serveQuestions(({ name, type }) => {
    const kind = TYPES.get(type) ?? String(type)
    asked.push(`${kind} ${name}`)
    const entry = zone[name]
    if (entry?.silent) return undefined
    return { code: entry === undefined ? 3 : 0, records: buildRecords(kind, entry) }
  })
  return { ...served, asked }
}

function buildRecords(kind: string, entry: ZoneEntry | undefined): Buffer[] {
  if (kind === 'MX') return (entry?.mx ?? []).map(mx)
  if (kind === 'SRV') return (entry?.srv ?? []).map(srv)
  return kind === 'TXT' ? (entry?.txt ?? []).map(txt) : []
}

const txt = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])

const mx = ({ exchange, priority }: { exchange: string; priority: number }) =>
  Buffer.concat([uint16(priority), domainName(exchange)])

const srv = (entry: { name: string; port: number; priority: number; weight: number }) =>
  Buffer.concat([uint16(entry.priority), uint16(entry.weight), uint16(entry.port), domainName(entry.name)])

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
