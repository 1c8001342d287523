/** Exports the log to an OpenTelemetry collector over OTLP (http/protobuf). Bounded in memory and time; never blocks the service. */
export { type OtlpLogs, type OtlpOptions, otlpLogs } from './exporter.ts'
