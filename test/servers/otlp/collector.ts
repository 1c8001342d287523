import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import protobuf from 'protobufjs'

/** A record as the schema shows it: enums by name, 64-bit numbers as text. */
export interface ExportedRecord {
  timeUnixNano: string
  severityNumber: string
  severityText: string
  body: { stringValue: string }
  /** By key, as plain values. */
  attributes: Record<string, unknown>
}

export interface ExportedBatch {
  path: string
  headers: IncomingHttpHeaders
  resource: Record<string, unknown>
  scope: { name: string; version: string }
  records: ExportedRecord[]
}

/** `endless` sends an answer without end, `hang` none. */
export type CollectorAnswer =
  | { status: number; headers?: Record<string, string>; body?: Uint8Array }
  | 'endless'
  | 'hang'

/** A collector of OpenTelemetry logs. It decodes requests by the published schema, and throws on anything else. */
export interface Collector {
  url: string
  port: number
  /** Only of requests that were answered with a success. */
  readonly batches: ExportedBatch[]
  /** Requests, whatever the answer. */
  readonly requests: number
  readonly records: ExportedRecord[]
  /** Problems of requests that are not OTLP. */
  readonly problems: unknown[]
  respondWith(reply: CollectorAnswer): void
  /** An `ExportLogsServiceResponse` that reports rejected records. */
  partialSuccess(rejected: number): Uint8Array
  close(): Promise<void>
}

interface KeyValue {
  key: string
  value?: AnyValue
}
interface AnyValue {
  stringValue?: string
  boolValue?: boolean
  intValue?: string
  doubleValue?: number
  arrayValue?: { values: AnyValue[] }
  kvlistValue?: { values: KeyValue[] }
}

export async function startCollector(port = 0): Promise<Collector> {
  const root = new protobuf.Root()
  root.resolvePath = (_origin, target) => join('test/servers/otlp', target)
  await root.load('opentelemetry/proto/collector/logs/v1/logs_service.proto')
  const requestType = root.lookupType('opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest')
  const responseType = root.lookupType('opentelemetry.proto.collector.logs.v1.ExportLogsServiceResponse')
  const batches: ExportedBatch[] = []
  const problems: unknown[] = []
  let requests = 0
  let next: CollectorAnswer = { status: 200 }

  const server = createServer(async (request, response) => {
    requests += 1
    const reply = next
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return
    }
    try {
      const decoded = decode(Buffer.concat(chunks)).map((record) => ({
        path: request.url ?? '',
        headers: request.headers,
        ...record,
      }))
      if (typeof reply === 'object' && reply.status === 200) batches.push(...decoded)
    } catch (error) {
      problems.push(error)
    }
    respond(response, reply)
  })

  function decode(bytes: Buffer): Omit<ExportedBatch, 'path' | 'headers'>[] {
    const message = requestType.toObject(requestType.decode(bytes), { enums: String, longs: String, defaults: true })
    return message.resourceLogs.flatMap(
      // biome-ignore lint/suspicious/noExplicitAny: the schema, loaded at run time, has no types
      ({ resource, scopeLogs }: any) =>
        // biome-ignore lint/suspicious/noExplicitAny: as above
        scopeLogs.map(({ scope, logRecords }: any) => ({
          resource: toAttributes(resource.attributes),
          scope,
          records: logRecords.map((record: { attributes: KeyValue[] }) => ({
            ...record,
            attributes: toAttributes(record.attributes),
          })),
        })),
    )
  }

  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    batches,
    problems,
    get requests() {
      return requests
    },
    get records() {
      return batches.flatMap((batch) => batch.records)
    },
    respondWith(reply) {
      next = reply
    },
    partialSuccess: (rejected) =>
      responseType
        .encode(responseType.fromObject({ partialSuccess: { rejectedLogRecords: rejected, errorMessage: 'x' } }))
        .finish(),
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      return closing
    },
  }
}

function toAttributes(list: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, plainValue(value ?? {})]))
}

function plainValue(value: AnyValue): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(plainValue)
  if (value.kvlistValue !== undefined) return toAttributes(value.kvlistValue.values)
  if (value.intValue !== undefined) return Number(value.intValue)
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? null
}

function respond(response: ServerResponse, reply: CollectorAnswer): void {
  if (reply === 'hang') return
  if (reply !== 'endless') {
    response.writeHead(reply.status, { 'content-type': 'application/x-protobuf', ...reply.headers })
    response.end(reply.body)
    return
  }
  response.on('error', () => {})
  const flood = Buffer.alloc(64 * 1024)
  const write = () => {
    if (!response.destroyed && response.write(flood)) setImmediate(write)
    else response.once('drain', write)
  }
  write()
}
