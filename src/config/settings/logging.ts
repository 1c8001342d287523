import * as kinds from '../kinds.ts'
import { setting } from '../setting.ts'

/** The log on stdout, in `GET /logs` and over OTLP. */
export const loggingSettings = {
  logLevel: setting({
    env: 'LOG_LEVEL',
    path: 'service.log.level',
    kind: kinds.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal'),
    fallback: 'info',
    about: 'Minimum level of log records, on stdout and in GET /logs.',
  }),
  otelLogsEnabled: setting({
    env: 'OTEL_LOGS_ENABLED',
    path: 'otel.logs.enabled',
    kind: kinds.boolean,
    fallback: false,
    about: 'Export the log over OTLP (http/protobuf).',
  }),
  otelEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    path: 'otel.endpoint',
    kind: kinds.url('https', 'http'),
    fallback: undefined,
    about: 'URL of the OpenTelemetry collector; /v1/logs is appended.',
  }),
  otelLogsEndpoint: setting({
    env: 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
    path: 'otel.logs.endpoint',
    kind: kinds.url('https', 'http'),
    fallback: undefined,
    about: 'URL of the collector for logs, used unchanged.',
  }),
  otelLogsHeaders: setting({
    env: 'OTEL_LOGS_HEADERS',
    path: 'otel.logs.headers',
    kind: kinds.pairs,
    fallback: undefined,
    secret: true,
    about: 'Credentials for the collector, as key=value pairs.',
  }),
  otelServiceName: setting({
    env: 'OTEL_SERVICE_NAME',
    path: 'otel.serviceName',
    kind: kinds.text,
    fallback: 'posthorn',
    about: 'Name of this service in the exported log.',
  }),
  otelLoggerName: setting({
    env: 'OTEL_LOGGER_NAME',
    path: 'otel.logs.loggerName',
    kind: kinds.text,
    fallback: 'posthorn',
    about: 'Name of the logger in the exported log.',
  }),
  otelLogsResourceAttributes: setting({
    env: 'OTEL_LOGS_RESOURCE_ATTRIBUTES',
    path: 'otel.logs.resourceAttributes',
    kind: kinds.pairs,
    fallback: undefined,
    about: 'Attributes of the exported log, as key=value pairs.',
  }),
  otelLogsMaxQueueSize: setting({
    env: 'OTEL_LOGS_MAX_QUEUE_SIZE',
    path: 'otel.logs.maxQueueSize',
    kind: kinds.integer(1, 1_000_000),
    fallback: 2048,
    about: 'Maximum number of records waiting for export; further records are dropped.',
  }),
  otelLogsMaxExportBatchSize: setting({
    env: 'OTEL_LOGS_MAX_EXPORT_BATCH_SIZE',
    path: 'otel.logs.maxExportBatchSize',
    kind: kinds.integer(1, 1_000_000),
    fallback: 512,
    about: 'Maximum number of records per export; at most the queue size.',
  }),
  otelLogsScheduledDelayMs: setting({
    env: 'OTEL_LOGS_SCHEDULED_DELAY_MS',
    path: 'otel.logs.scheduledDelayMs',
    kind: kinds.integer(1, 3_600_000),
    fallback: 1000,
    about: 'Milliseconds between two exports.',
  }),
} as const
