import type { LogEntry } from '../log/index.ts'

export interface OtlpIdentity {
  /** `service.name` of the resource. */
  serviceName: string
  version: string
  /** The process, `service.instance.id`. */
  instance: string
  /** Name of the instrumentation scope. */
  loggerName: string
  /** Further attributes of the resource. They replace those above. */
  resourceAttributes: Readonly<Record<string, string>>
}

/** Severity numbers of the OpenTelemetry log data model. */
const SEVERITY = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 } as const

interface RecordCodec {
  /** An `ExportLogsServiceRequest`. */
  encode(entries: readonly LogEntry[]): Uint8Array
  /** Number of records that an accepting collector says it dropped, from its `ExportLogsServiceResponse`. */
  rejectedIn(response: Uint8Array): number
}

/** Loads OpenTelemetry's serialiser, which only exports need. */
export async function recordCodec(identity: OtlpIdentity): Promise<RecordCodec> {
  const [{ ProtobufLogsSerializer }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/otlp-transformer'),
    import('@opentelemetry/resources'),
  ])
  const resource = resourceFromAttributes({
    'service.name': identity.serviceName,
    'service.version': identity.version,
    'service.instance.id': identity.instance,
    ...identity.resourceAttributes,
  })
  const instrumentationScope = { name: identity.loggerName, version: identity.version }
  const toRecord = (entry: LogEntry) => {
    const time = hrTime(entry.timestamp)
    return {
      hrTime: time,
      hrTimeObserved: time,
      resource,
      instrumentationScope,
      severityNumber: SEVERITY[entry.level],
      severityText: entry.level.toUpperCase(),
      body: entry.message,
      attributes: toAttributes(entry),
      droppedAttributesCount: 0,
    }
  }
  return {
    encode: (entries) => ProtobufLogsSerializer.serializeRequest(entries.map(toRecord)) ?? new Uint8Array(),
    rejectedIn(response) {
      try {
        const { partialSuccess } = ProtobufLogsSerializer.deserializeResponse(response)
        return Math.max(0, Number(partialSuccess?.rejectedLogRecords ?? 0)) || 0
      } catch {
        // Many collectors answer with an empty or JSON body.
        return 0
      }
    },
  }
}

/** The fields of the record under their names in `GET /logs`; the error by OpenTelemetry's conventions. */
function toAttributes(entry: LogEntry) {
  const { accountId, provider, operation, requestId, durationMs, error, metadata } = entry
  const fields = { accountId, provider, operation, requestId, durationMs, metadata: plain(metadata) }
  return {
    'log.record.uid': entry.id,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)),
    ...(error !== null && {
      'exception.type': error.name,
      'exception.message': error.message,
      ...(error.stack !== undefined && { 'exception.stacktrace': error.stack }),
      error: plain(error),
    }),
  }
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** A copy without members that are undefined. The redactor has made it plain JSON. */
function plain(value: object | null): Json {
  return value === null ? null : JSON.parse(JSON.stringify(value))
}

function hrTime(timestamp: string): [number, number] {
  const ms = Date.parse(timestamp)
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000]
}
